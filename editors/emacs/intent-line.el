;;; intent-line.el --- Whose the line at point is  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `intent-line-mode' writes at the end of the line at point, and into the mode
;; line, which intent asked for that line and who wrote it.  The server is asked
;; when point has rested, one question at a time.  Part of the package `intent';
;; see intent.el.

;;; Code:

(require 'intent-client)

(defcustom intent-lines 'line
  "Which lines say at their end whose they are.
With `line', the line at point, also in the mode line.  With `all', every line
that is seen; of neighbours with the same answer, only the first."
  :type '(choice (const :tag "No line" nil)
                 (const :tag "The line at point" line)
                 (const :tag "All lines" all))
  :group 'intent)

(defface intent-line '((t :inherit shadow :slant italic))
  "Whose a line is, at its end."
  :group 'intent)

(defconst intent-line--rests 0.15
  "Seconds without a command after which the server is asked.")

(defconst intent-line--settles 1.0
  "Seconds without an edit after which the server is asked.")

(defconst intent-line--width 60
  "How many columns of the mode line the text takes at most.")

(defvar intent-line-mode)
(defvar intent-line--timer nil
  "Asks when point has rested.")
(defvar intent-line--asking nil
  "The buffer that a question was asked about and not answered, or nil.")
(defvar intent-line--asked-at 0
  "When that question was asked.")
(defvar-local intent-line--texts nil
  "The known text of each line by its number; empty where nothing is known.")
(defvar-local intent-line--tick nil
  "The state of the buffer's text that the texts are about.")
(defvar-local intent-line--edited-at 0
  "When somebody typed last.")
(defvar-local intent-line--at nil
  "Where the line of point began, and what the window showed first.")
(defvar-local intent-line--said ""
  "The text for the line at point.")

(defun intent-line--unrecorded-p (short)
  "Whether SHORT is about a line that nobody recorded."
  (or (member short '("not committed yet" "history is missing here"))
      (string-match-p "\\(?:\\`\\| · \\)git says: " short)))

(defun intent-line--blamed-p ()
  "Whether this buffer has the blame of another package."
  (bound-and-true-p blamer-mode))

(defun intent-line--known ()
  "The texts that are about the present text of the buffer."
  (unless (and intent-line--texts (eql intent-line--tick (buffer-chars-modified-tick)))
    (setq intent-line--texts (make-hash-table)
          intent-line--tick (buffer-chars-modified-tick)))
  intent-line--texts)

(defun intent-line--text (line)
  "The text for LINE; empty if there is none or it is not known."
  (let ((short (gethash line (intent-line--known) "")))
    (if (and (intent-line--blamed-p) (intent-line--unrecorded-p short)) "" short)))

(defun intent-line--lines ()
  "The lines that say whose they are, that of point first.  Blank ones say nothing."
  (save-excursion
    (save-restriction
      (widen)
      (let* ((here (line-number-at-pos))
             (window (get-buffer-window))
             (lines (list here)))
        (when (and (eq intent-lines 'all) window)
          (let ((last (line-number-at-pos (min (point-max) (window-end window t)))))
            (dolist (line (number-sequence (line-number-at-pos (window-start window)) last))
              (unless (= line here) (push line lines)))))
        (seq-filter (lambda (line)
                      (goto-char (point-min))
                      (and (zerop (forward-line (1- line))) (not (looking-at-p "[ \t]*$"))))
                    (nreverse lines))))))

(defun intent-line--clear ()
  "Take the texts away."
  (save-restriction
    (widen)
    (remove-overlays (point-min) (point-max) 'intent-line t)))

(defun intent-line--put (text)
  "Write TEXT at the end of the line at point, unless provenance stands there."
  (let ((beg (line-beginning-position)) (end (line-end-position)))
    (unless (seq-some (lambda (it) (overlay-get it 'intent-provenance)) (overlays-in beg end))
      (let ((overlay (make-overlay beg end))
            (text (propertize (concat "  " text) 'face 'intent-line)))
        ;; The cursor stays before what is not text of the file.
        (put-text-property 0 1 'cursor t text)
        (overlay-put overlay 'intent-line t)
        (overlay-put overlay 'evaporate t)
        (overlay-put overlay 'after-string text)))))

(defun intent-line--draw ()
  "Show what is known, and take away what may be wrong."
  (intent-line--clear)
  (setq intent-line--said "")
  (when intent-lines
    (save-excursion
      (save-restriction
        (widen)
        (let ((here (line-number-at-pos)))
          (setq intent-line--said (intent-line--text here))
          (dolist (line (intent-line--lines))
            (let ((text (intent-line--text line)))
              (unless (or (string-empty-p text)
                          ;; Of neighbours with the same text, only the first and that of point.
                          (and (/= line here) (equal text (intent-line--text (1- line)))))
                (goto-char (point-min))
                (forward-line (1- line))
                (intent-line--put text))))))))
  (force-mode-line-update))

(defun intent-line--heard (buffer tick line result)
  "Keep RESULT about LINE of BUFFER at TICK, show it, and ask on."
  (setq intent-line--asking nil)
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (and intent-line-mode (eql tick (buffer-chars-modified-tick)))
        (puthash line (intent--plain (or (plist-get result :short) "")) (intent-line--known))
        (intent-line--draw))))
  ;; If point has moved meanwhile, the timer goes on.
  (unless intent-line--timer (intent-line--rested)))

(defun intent-line--ask ()
  "Ask for the next line of this buffer that nothing is known of."
  (let* ((known (intent-line--known))
         (line (seq-find (lambda (line) (not (gethash line known))) (intent-line--lines)))
         (buffer (current-buffer)))
    (when (and line (intent--server))
      (setq intent-line--asking buffer
            intent-line--asked-at (float-time))
      (intent--call-later
       "intent.why" (list :position (list :line (1- line) :character 0))
       (apply-partially #'intent-line--heard buffer (buffer-chars-modified-tick) line)
       ;; While the server reads, it refuses; its state tells when it is done.
       (lambda (_) (setq intent-line--asking nil))))))

(defun intent-line--rested ()
  "Ask about the buffer that is looked at, if it wants that and nobody types."
  (setq intent-line--timer nil)
  (with-current-buffer (window-buffer (selected-window))
    (when (and intent-line-mode intent-lines)
      (let ((typed (- (float-time) intent-line--edited-at)))
        (cond ((< typed intent-line--settles) (intent-line--soon (- intent-line--settles typed)))
              ;; An answer that does not come, from a server that ended, is not waited for.
              ((and intent-line--asking (< (- (float-time) intent-line--asked-at) 10)))
              (t (intent-line--ask)))))))

(defun intent-line--soon (&optional seconds)
  "Ask when point has rested, or in SECONDS."
  (when (timerp intent-line--timer) (cancel-timer intent-line--timer))
  (setq intent-line--timer
        (run-with-timer (or seconds intent-line--rests) nil #'intent-line--rested)))

(defun intent-line--moved (&rest _)
  "Show what is known of the line at point, if that is another, and ask."
  (let ((at (list (line-beginning-position)
                  (and (eq intent-lines 'all) (window-start)))))
    (unless (equal at intent-line--at)
      (setq intent-line--at at)
      (intent-line--draw)
      (intent-line--soon))))

(defun intent-line--edited (&rest _)
  "Forget what was known, since the text is another."
  (setq intent-line--edited-at (float-time)
        intent-line--said "")
  (save-match-data (intent-line--clear))
  (intent-line--soon intent-line--settles))

(defun intent-line--forget (&rest _)
  "Ask anew: something was recorded, or the server is another."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (bound-and-true-p intent-line-mode) (setq intent-line--texts nil))))
  (intent-line--soon))

(defun intent-line--lighter ()
  "Whose the line at point is, for the mode line."
  (unless (string-empty-p intent-line--said)
    ;; A percent sign would be an instruction.
    (concat " " (replace-regexp-in-string
                 "%" "%%" (truncate-string-to-width intent-line--said intent-line--width nil nil "…")))))

;;;###autoload
(defun intent-lines-cycle ()
  "Let no line say whose it is, then the line at point, then all lines."
  (interactive)
  (setq intent-lines (pcase intent-lines ('nil 'line) ('line 'all) (_ nil)))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (bound-and-true-p intent-line-mode) (intent-line--draw))))
  (intent-line--soon)
  (message "Whose a line is: %s"
           (pcase intent-lines ('nil "off") ('line "the line at point") (_ "all lines"))))

(defconst intent-line--hooks
  '((post-command-hook intent-line--moved)
    (after-change-functions intent-line--edited)
    (eglot-managed-mode-hook intent-line--forget)
    (intent-attached-hook intent-line--forget)
    (intent-provenance-shown-hook intent-line--draw)
    (change-major-mode-hook intent-line--clear))
  "What happens in a buffer of `intent-line-mode'.")

;;;###autoload
(define-minor-mode intent-line-mode
  "Say at the end of the line at point which intent asked for it, and who wrote it.
`intent-lines' says which lines do; `intent-lines-cycle' changes it."
  :lighter (:eval (intent-line--lighter))
  (intent--follow intent-line--hooks intent-line-mode)
  (if (not intent-line-mode)
      (intent-line--clear)
    (add-hook 'intent-status-functions #'intent-line--forget)
    (intent-line--soon)))

(provide 'intent-line)
;;; intent-line.el ends here
