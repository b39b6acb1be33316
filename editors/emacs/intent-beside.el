;;; intent-beside.el --- The server of intent beside another one  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; eglot lets one server manage a buffer.  In a buffer that belongs to a
;; language's own server, `intent-beside-mode' tells ours of the text, too, and
;; shows what only ours knows: diagnostics by flymake, hover by eldoc, and what
;; the commands of this package ask for.  It leaves all else to the other one.
;; Part of the package `intent'; see intent.el.

;;; Code:

(require 'intent-client)
(require 'flymake)
(require 'eldoc)

(defcustom intent-beside t
  "Whether our server also runs where another one manages the buffer."
  :type 'boolean
  :group 'intent)

(defcustom intent-beside-delay 0.4
  "Seconds without an edit after which our server is told of the text."
  :type 'number
  :group 'intent)

(defvar intent-beside-mode)
(defvar-local intent-beside--version nil
  "The version of the text that the server was told last; nil before the first.")
(defvar-local intent-beside--dirty nil
  "Whether the text changed since the server was told.")
(defvar-local intent-beside--timer nil)
(defvar-local intent-beside--diagnostics nil
  "What the server last said of this buffer, as it said it.")
(defvar-local intent-beside--report nil
  "The function that takes diagnostics, from flymake.")
(defvar intent-beside--speaker nil
  "The server whose positions are read, where it is not the buffer's own.")

;;;; Positions

(defun intent-beside--width ()
  "How many units of the protocol a character takes, as a function."
  (pcase (plist-get (eglot--capabilities (or intent-beside--speaker (intent--server-or-lose)))
                    :positionEncoding)
    ("utf-32" (lambda (_) 1))
    ("utf-8" (lambda (it) (string-bytes (char-to-string it))))
    (_ (lambda (it) (if (> it #xffff) 2 1)))))

(defun intent-beside--point (position)
  "Where POSITION of the protocol is in this buffer."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (forward-line (plist-get position :line))
      (let ((left (plist-get position :character)) (width (intent-beside--width)))
        (while (and (> left 0) (not (eolp)))
          (setq left (- left (funcall width (char-after))))
          (forward-char)))
      (point))))

(defun intent-beside--position (place)
  "PLACE in this buffer as a position of the protocol."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char place)
      (let ((width (intent-beside--width)) (units 0) (line (1- (line-number-at-pos))))
        (while (not (bolp))
          (setq units (+ units (funcall width (char-before))))
          (backward-char))
        (list :line line :character units)))))

(defun intent-beside--range (range)
  "Beginning and end of RANGE in this buffer."
  (cons (intent-beside--point (plist-get range :start))
        (intent-beside--point (plist-get range :end))))

;;;; The text

(defun intent-beside--tell (method params)
  "Send METHOD with PARAMS, if there is a server."
  (when-let ((server (intent--running)))
    (jsonrpc-notify server method params)))

(defun intent-beside--text ()
  "The whole text of this buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun intent-beside--open ()
  "Tell the server of this buffer for the first time."
  (when (intent--running)
    (setq intent-beside--version 0 intent-beside--dirty nil)
    (intent-beside--tell :textDocument/didOpen
                         (list :textDocument
                               (append (intent--here)
                                       (list :languageId (intent--language-id)
                                             :version 0
                                             :text (intent-beside--text)))))))

(defun intent-beside--close (&rest _)
  "Tell the server that this buffer is its business no more."
  (when intent-beside--version
    (with-demoted-errors "intent: %S"
      (intent-beside--tell :textDocument/didClose (list :textDocument (intent--here)))))
  (setq intent-beside--version nil))

(defun intent-beside-flush ()
  "Tell the server what changed since it was told last."
  (when (and intent-beside--version intent-beside--dirty)
    (setq intent-beside--dirty nil
          intent-beside--version (1+ intent-beside--version))
    (intent-beside--tell :textDocument/didChange
                         (list :textDocument
                               (append (intent--here) (list :version intent-beside--version))
                               :contentChanges (vector (list :text (intent-beside--text)))))))

(defun intent-beside--changed (&rest _)
  "Remember that the text changed, and tell the server soon."
  (setq intent-beside--dirty t)
  (when (timerp intent-beside--timer) (cancel-timer intent-beside--timer))
  (let ((buffer (current-buffer)))
    (setq intent-beside--timer
          (run-with-timer intent-beside-delay nil
                          (lambda ()
                            (when (buffer-live-p buffer)
                              (with-current-buffer buffer (intent-beside-flush))))))))

(defun intent-beside--saved ()
  "Tell the server that the file was written."
  (intent-beside-flush)
  (when intent-beside--version
    (intent-beside--tell :textDocument/didSave (list :textDocument (intent--here)))))

;;;; Diagnostics

(defun intent-beside--diagnostic (it)
  "IT, as the server said it, for flymake."
  (pcase-let* ((`(,beg . ,end) (intent-beside--range (plist-get it :range)))
               (severity (or (plist-get it :severity) 1)))
    (flymake-make-diagnostic
     (current-buffer) beg (if (= beg end) (min (1+ end) (point-max)) end)
     (cond ((= severity 1) :error) ((= severity 2) :warning) (t :note))
     (format "intent [%s]: %s" (plist-get it :code) (intent--plain-lines (plist-get it :message))))))

(defun intent-beside--show-diagnostics ()
  "Hand flymake what the server last said."
  (when intent-beside--report
    (save-restriction
      (widen)
      (funcall intent-beside--report
               (mapcar #'intent-beside--diagnostic intent-beside--diagnostics)
               :region (cons (point-min) (point-max))))))

(defun intent-beside-flymake (report &rest _)
  "Give REPORT, from flymake, the server's diagnostics of this buffer."
  (setq intent-beside--report report)
  (if (intent--running)
      (intent-beside--show-diagnostics)
    (funcall report nil)))

(cl-defmethod eglot-handle-notification
  ((_server intent-server) (_method (eql 'textDocument/publishDiagnostics))
   &key uri diagnostics &allow-other-keys)
  "Show DIAGNOSTICS of URI here where another server manages its buffer."
  (let ((buffer (find-buffer-visiting (intent--path uri))))
    (if (not (and buffer (buffer-local-value 'intent-beside-mode buffer)))
        (cl-call-next-method)
      (with-current-buffer buffer
        (setq intent-beside--diagnostics (append diagnostics nil))
        (intent-beside--show-diagnostics)))))

;;;; Hover

(defun intent-beside-eldoc (callback &rest _)
  "Give CALLBACK, from eldoc, the server's words on the place at point."
  (when-let ((server (and intent-beside--version (intent--running))))
    (let ((params (list :textDocument (intent--here) :position (intent-beside--position (point)))))
      (jsonrpc-async-request
       server :textDocument/hover params
       :success-fn (lambda (hover)
                     (let ((contents (plist-get hover :contents)))
                       (funcall callback (and contents (eglot--format-markup contents)))))
       :error-fn #'ignore
       :timeout-fn #'ignore)
      t)))

;;;; Edits and actions

(defun intent-beside--edit-buffer (edits)
  "Make EDITS of the protocol in this buffer."
  (let ((places (mapcar (lambda (edit)
                          (pcase-let ((`(,beg . ,end) (intent-beside--range (plist-get edit :range))))
                            (list (copy-marker beg) (copy-marker end) (plist-get edit :newText))))
                        edits)))
    (atomic-change-group
      (save-excursion
        (save-restriction
          (widen)
          (pcase-dolist (`(,beg ,end ,text) (nreverse places))
            (goto-char beg)
            (delete-region beg end)
            (insert text)))))))

(defun intent-beside-apply-edit (edit)
  "Make EDIT of the workspace."
  (let ((intent-beside--speaker (intent--server-or-lose))
        (files (append
                (mapcar (lambda (it)
                          (cons (plist-get (plist-get it :textDocument) :uri) (plist-get it :edits)))
                        (append (plist-get edit :documentChanges) nil))
                (unless (plist-get edit :documentChanges)
                  (cl-loop for (uri edits) on (plist-get edit :changes) by #'cddr
                           collect (cons (string-remove-prefix ":" (format "%s" uri)) edits))))))
    (pcase-dolist (`(,uri . ,edits) files)
      (with-current-buffer (find-file-noselect (intent--path uri))
        (intent-beside--edit-buffer (append edits nil))))))

(defun intent-beside-code-actions ()
  "Choose what to do about this line."
  (let* ((actions
          (append (intent--request
                   :textDocument/codeAction
                   (list :textDocument (intent--here)
                         :range (list :start (intent-beside--position (line-beginning-position))
                                      :end (intent-beside--position (line-end-position)))
                         :context '(:diagnostics [])))
                  nil))
         (titles (or (mapcar (lambda (it) (plist-get it :title)) actions)
                     (user-error "There is nothing to do here")))
         (chosen (completing-read "Pick an action: " titles nil t))
         (action (seq-find (lambda (it) (equal (plist-get it :title) chosen)) actions))
         (action (if (or (plist-get action :edit) (plist-get action :command))
                     action
                   (intent--request :codeAction/resolve action)))
         (command (plist-get action :command)))
    (when (plist-get action :edit)
      (intent-beside-apply-edit (plist-get action :edit)))
    (when command
      (intent--request :workspace/executeCommand
                       (list :command (plist-get command :command)
                             :arguments (plist-get command :arguments))))))

;;;; The mode

(defconst intent-beside--sources
  '((flymake-diagnostic-functions intent-beside-flymake)
    ;; First: an intent is what the other server cannot tell.
    (eldoc-documentation-functions intent-beside-eldoc -10))
  "What is shown in a buffer of `intent-beside-mode'.")

(defun intent-beside--hook ()
  "Be heard beside the other server, which takes these lists for itself."
  (when intent-beside-mode
    (intent--follow intent-beside--sources t)
    (unless (bound-and-true-p flymake-mode) (flymake-mode 1))
    (eldoc-mode 1)
    (flymake-start)))

(defun intent-beside--connected (server)
  "Tell SERVER, if it is ours and new, of the buffers beside others."
  (when (cl-typep server 'intent-server)
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer
        (when (and (bound-and-true-p intent-beside-mode) (eq (intent--running) server))
          (intent-beside--open)
          (intent-beside--hook)
          (run-hooks 'intent-attached-hook))))))

(defun intent-beside--start ()
  "Start our server for this project, to manage no mode but that of the registry."
  (let ((eglot-sync-connect nil)
        (modes '(intent-registry-mode)))
    (eglot--connect modes (eglot--current-project) 'intent-server
                    (list (intent--find-program intent--root) "lsp")
                    (if (slot-exists-p 'intent-server 'languages) '("yaml") "yaml"))))

(defvar intent-beside--starting nil
  "The projects that a server is being started for.")

(defconst intent-beside--hooks
  '((after-change-functions intent-beside--changed)
    (after-save-hook intent-beside--saved)
    (kill-buffer-hook intent-beside--close)
    (change-major-mode-hook intent-beside--close)
    (eglot-managed-mode-hook intent-beside--hook)
    (intent-flush-functions intent-beside-flush))
  "What happens in a buffer of `intent-beside-mode'.")

(define-minor-mode intent-beside-mode
  "Have our server know of this buffer, which another one manages."
  :lighter nil
  (intent--follow intent-beside--hooks intent-beside-mode)
  (cond
   (intent-beside-mode
    (add-hook 'eglot-connect-hook #'intent-beside--connected)
    (if (intent--running)
        (progn (intent-beside--open) (intent-beside--hook) (run-hooks 'intent-attached-hook))
      (let ((project (eglot--current-project)))
        (unless (member project intent-beside--starting)
          (push project intent-beside--starting)
          (run-with-timer 10 nil (lambda () (setq intent-beside--starting
                                                  (delete project intent-beside--starting))))
          (intent-beside--start)))))
   (t
    (intent-beside--close)
    (when (timerp intent-beside--timer) (cancel-timer intent-beside--timer))
    (when intent-beside--report
      (setq intent-beside--diagnostics nil)
      (intent-beside--show-diagnostics))
    (intent--follow intent-beside--sources nil))))

(provide 'intent-beside)
;;; intent-beside.el ends here
