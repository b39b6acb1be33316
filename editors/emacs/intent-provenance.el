;;; intent-provenance.el --- Who asked for this, after the line  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `intent-provenance-mode' writes after the first line of each recorded
;; definition which intent asked for it, who wrote it, when, and whether it is
;; still what was recorded.  Part of the package `intent'; see intent.el.

;;; Code:

(require 'intent-client)
(require 'iso8601)

(defcustom intent-provenance-template "${intent} ${name} · ${who} · ${when} · ${verdict}"
  "What `intent-provenance-mode' writes after a line.
Tokens: ${intent} its id, ${name} its name, ${status} its status, ${who} the
agent or person, ${model} the model, ${when} how long ago, ${date} the day,
${verdict} with what was done to a changed block since, ${mark} a sign for it,
${block} the block's name.  A part between dots in which no token says
anything is left out."
  :type 'string
  :group 'intent)

(defcustom intent-provenance-delay 0.5
  "Seconds without an edit after which provenance is asked for again."
  :type 'number
  :group 'intent)

(defface intent-provenance '((t :inherit shadow :slant italic))
  "Provenance after a line."
  :group 'intent)

(defface intent-provenance-changed '((t :inherit (warning intent-provenance)))
  "The verdict on a block that is not what was recorded."
  :group 'intent)

(defvar intent-provenance-shown-hook nil
  "Run in a buffer after its provenance was written.")

(defvar intent-provenance-mode)
(defvar-local intent-provenance--timer nil)
(defvar intent-provenance--complained nil
  "Tokens that nobody knows and that were reported.")

;;;; Words

(defun intent-provenance--seconds (timestamp)
  "TIMESTAMP, as the ledger writes it, in seconds."
  (float-time (encode-time (iso8601-parse timestamp))))

(defun intent-provenance--ago (timestamp)
  "How long ago TIMESTAMP was, in words."
  (let* ((seconds (max 0 (- (float-time) (intent-provenance--seconds timestamp))))
         (say (lambda (many unit)
                (format "%d %s%s ago" many unit (if (= many 1) "" "s")))))
    (cond ((< seconds 60) "just now")
          ((< seconds 3600) (funcall say (floor seconds 60) "minute"))
          ((< seconds 86400) (funcall say (floor seconds 3600) "hour"))
          ;; As the server says it: weeks, months and years from two of them on.
          ((< seconds (* 14 86400)) (funcall say (floor seconds 86400) "day"))
          ((< seconds (* 60 86400)) (funcall say (floor seconds (* 7 86400)) "week"))
          ((< seconds (* 730 86400)) (funcall say (floor seconds (* 30 86400)) "month"))
          (t (funcall say (floor seconds (* 365 86400)) "year")))))

(defun intent-provenance--who (it)
  "Who wrote IT, a block or a record, as far as is recorded."
  (let* ((contributor (plist-get it :contributor))
         (model (plist-get contributor :model_identifier))
         (tool (plist-get it :tool))
         (person (or (plist-get contributor :name) "a person"))
         ;; Our own name stands where a person or a script ran the command line.
         (agent (or (and (not (equal tool "intent")) tool)
                    (and model (car (last (split-string model "/")))))))
    (cond
     ((null contributor) nil)
     (t (pcase (plist-get contributor :entity_type)
          ("AI" (or agent "AI"))
          ("HUMAN" person)
          ("MIXED" (format "%s and %s" person (or agent "AI")))
          (_ "unknown author"))))))

(defun intent-provenance--sound-p (block)
  "Whether BLOCK is as it was recorded, its name and place aside."
  (member (plist-get block :verdict) '("exact" "reformatted" "renamed" "moved")))

(defun intent-provenance--verdict (block)
  "The verdict on BLOCK, with what was done to it since."
  (let ((verdict (plist-get block :verdict))
        (newer (or (plist-get block :newer) 0)))
    (cond
     ((plist-get block :accepted) "accepted")
     ((not (equal verdict "modified")) verdict)
     ((eq (plist-get block :only_inside) t) verdict)
     ((eq (plist-get block :cut) t) "modified, lines removed since")
     ((zerop newer) verdict)
     (t (format "modified, %d line%s since" newer (if (= newer 1) "" "s"))))))

(defun intent-provenance--tokens (block)
  "What each token of the template stands for in BLOCK."
  (let* ((intent (plist-get block :intent))
         (timestamp (plist-get block :timestamp))
         (name (plist-get intent :name)))
    `(("intent" . ,(plist-get intent :id))
      ("name" . ,(and name (truncate-string-to-width name 60 nil nil "…")))
      ("status" . ,(plist-get intent :status))
      ("who" . ,(intent-provenance--who block))
      ("model" . ,(plist-get (plist-get block :contributor) :model_identifier))
      ("when" . ,(and timestamp (intent-provenance--ago timestamp)))
      ("date" . ,(and timestamp (substring timestamp 0 10)))
      ("verdict" . ,(propertize (intent-provenance--verdict block)
                                'face (if (intent-provenance--sound-p block)
                                          'intent-provenance
                                        'intent-provenance-changed)))
      ("mark" . ,(if (intent-provenance--sound-p block) "✓" "~"))
      ("block" . ,(plist-get block :qualified_name)))))

(defun intent-provenance--complain (token)
  "Say once that nobody knows TOKEN."
  (unless (member token intent-provenance--complained)
    (push token intent-provenance--complained)
    (message "intent-provenance-template: there is no token ${%s}" token)))

(defun intent-provenance--part (part tokens)
  "PART of a template with TOKENS put in, or nil if all of them are empty."
  (let ((start 0) (said nil) (named nil) (out ""))
    (while (string-match "\\${\\([^}]*\\)}" part start)
      (let* ((begin (match-beginning 0))
             (end (match-end 0))
             (name (match-string 1 part))
             (known (assoc name tokens))
             (value (and (cdr known) (intent--plain (cdr known)))))
        (setq named t
              out (concat out (substring part start begin) value)
              start end)
        (unless known (intent-provenance--complain name))
        (when (and value (not (equal value ""))) (setq said t))))
    (when (or said (not named))
      (string-trim (concat out (substring part start))))))

(defun intent-provenance-format (block &optional template)
  "BLOCK in the words of TEMPLATE, by default `intent-provenance-template'."
  (let ((tokens (intent-provenance--tokens block))
        (parts (split-string (or template intent-provenance-template) " · ")))
    (mapconcat #'identity
               (delq nil (mapcar (lambda (part) (intent-provenance--part part tokens)) parts))
               " · ")))

;;;; Overlays

(defun intent-provenance--shown-p (block)
  "Whether there is something to say after the first line of BLOCK.
Not where nothing is recorded, and not for what lies between definitions."
  (and (not (equal (plist-get block :verdict) "unrecorded"))
       (not (member (plist-get block :kind) '("region" "paragraph")))))

(defun intent-provenance--clear (&optional beg end)
  "Take provenance away between BEG and END, or everywhere."
  (remove-overlays (or beg (point-min)) (or end (point-max)) 'intent-provenance t))

(defun intent-provenance--put (block)
  "Write after the first line of BLOCK what is known of it."
  (let ((text (and (intent-provenance--shown-p block) (intent-provenance-format block))))
    (unless (or (null text) (string-empty-p text))
      (goto-char (point-min))
      (when (zerop (forward-line (1- (plist-get block :start_line))))
        (let ((overlay (make-overlay (line-beginning-position) (line-end-position)))
              (text (concat "  " text)))
          (add-face-text-property 0 (length text) 'intent-provenance t text)
          ;; The cursor stays before what is not text of the file.
          (put-text-property 0 1 'cursor t text)
          (overlay-put overlay 'intent-provenance t)
          (overlay-put overlay 'evaporate t)
          (overlay-put overlay 'after-string text))))))

(defun intent-provenance--show (buffer tick result)
  "Show RESULT in BUFFER, unless its text went on since TICK."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (and intent-provenance-mode (eql tick (buffer-chars-modified-tick)))
        (save-excursion
          (save-restriction
            (widen)
            (intent-provenance--clear)
            (mapc #'intent-provenance--put (plist-get result :blocks))))
        (run-hooks 'intent-provenance-shown-hook)))))

(defun intent-provenance-refresh (&optional buffer)
  "Ask again for the provenance of BUFFER, by default this one."
  (interactive)
  (with-current-buffer (or buffer (current-buffer))
    (when intent-provenance-mode
      (let ((buffer (current-buffer)) (tick (buffer-chars-modified-tick)))
        (intent--call-later "intent.why" nil
                            (lambda (result) (intent-provenance--show buffer tick result)))))))

(defun intent-provenance--later (&rest _)
  "Ask again when nothing was typed for a moment."
  (when (timerp intent-provenance--timer) (cancel-timer intent-provenance--timer))
  (let ((buffer (current-buffer)))
    (setq intent-provenance--timer
          (run-with-timer intent-provenance-delay nil
                          (lambda ()
                            (when (buffer-live-p buffer)
                              (intent-provenance-refresh buffer)))))))

(defun intent-provenance--changed (beg end _length)
  "Forget what was known of the lines from BEG to END: it may be true no more."
  (save-match-data
    (save-excursion
      (intent-provenance--clear (progn (goto-char beg) (line-beginning-position))
                                (progn (goto-char end) (line-end-position)))))
  (intent-provenance--later))

(defun intent-provenance--state-changed (state)
  "Ask again in the buffers of the workspace that STATE is about."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and (bound-and-true-p intent-provenance-mode)
                 (equal intent--root (plist-get state :root)))
        (intent-provenance--later)))))

(defconst intent-provenance--hooks
  '((after-change-functions intent-provenance--changed)
    (after-save-hook intent-provenance--later)
    (after-revert-hook intent-provenance--later)
    (eglot-managed-mode-hook intent-provenance--later)
    (intent-attached-hook intent-provenance--later)
    (change-major-mode-hook intent-provenance--clear))
  "What happens in a buffer of `intent-provenance-mode'.")

;;;###autoload
(define-minor-mode intent-provenance-mode
  "Write after each recorded definition which intent asked for it.
The words are those of `intent-provenance-template'."
  :lighter nil
  (intent--follow intent-provenance--hooks intent-provenance-mode)
  (if intent-provenance-mode
      (progn
        (add-hook 'intent-status-functions #'intent-provenance--state-changed)
        (intent-provenance--later))
    (when (timerp intent-provenance--timer) (cancel-timer intent-provenance--timer))
    (save-restriction (widen) (intent-provenance--clear))))

(provide 'intent-provenance)
;;; intent-provenance.el ends here
