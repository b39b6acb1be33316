;;; intent.el --- Why is this code here?  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))

;;; Commentary:

;; Starts `intent lsp' through eglot.  Needs `intent' on `exec-path'.
;;
;;   (load "/path/to/intent-lsp/editors/emacs/intent.el")
;;   (add-hook 'prog-mode-hook #'intent-ensure)
;;   (add-hook 'yaml-ts-mode-hook #'intent-ensure)   ; the registry itself
;;
;; eglot runs one server for a buffer.  In a mode that has a server of its own,
;; `intent-ensure' leaves that one alone; call `intent-take-over' to see this
;; one instead.
;;
;; eglot has no code lens: provenance comes by eldoc, inlay hints
;; (`eglot-inlay-hints-mode', Emacs 29) and code actions.

;;; Code:

(require 'eglot)
(require 'seq)

(defgroup intent nil "Why is this code here?" :group 'tools)

(defcustom intent-program "intent"
  "The program, found on `exec-path'.  Never set by a folder or file."
  :type 'string
  :risky t)

(defcustom intent-inlay-hints t
  "Whether provenance is shown at the end of a definition's first line."
  :type 'boolean)

(defun intent--contact ()
  "What eglot needs to start the server."
  (list intent-program "lsp"
        :initializationOptions
        (list :interactive t
              :codeLens :json-false
              :inlayHints (if intent-inlay-hints t :json-false))))

(defun intent--governed-p ()
  "Whether this buffer's file lies in a workspace with intents."
  (and buffer-file-name
       (locate-dominating-file buffer-file-name ".orchestration")
       (executable-find intent-program)))

(defun intent--register ()
  "Make this buffer's mode start our server."
  (setq-local eglot-server-programs
              (cons (cons major-mode (intent--contact)) eglot-server-programs)))

;;;###autoload
(defun intent-ensure ()
  "Start the server here, unless the mode has a server of its own."
  (when (and (intent--governed-p)
             (not (seq-some (lambda (entry)
                              (memq major-mode
                                    (mapcar (lambda (mode) (if (consp mode) (car mode) mode))
                                            (ensure-list (car entry)))))
                            (default-value 'eglot-server-programs))))
    (intent--register)
    (eglot-ensure)))

;;;###autoload
(defun intent-take-over ()
  "Start the server here, instead of the mode's own."
  (interactive)
  (unless (intent--governed-p)
    (user-error "No .orchestration/ above this file, or no `%s' on exec-path" intent-program))
  (when-let ((server (eglot-current-server)))
    (eglot-shutdown server))
  (intent--register)
  (apply #'eglot--connect (eglot--guess-contact)))

(defun intent--ask (command arguments)
  "Send COMMAND with ARGUMENTS, a plist, about this buffer's file."
  (jsonrpc-request
   (or (eglot-current-server) (user-error "No server in this buffer"))
   :workspace/executeCommand
   (list :command command
         :arguments (vector (append (list :uri (eglot--path-to-uri buffer-file-name))
                                    arguments)))))

;;;###autoload
(defun intent-select ()
  "Choose the intent to work under."
  (interactive)
  (let* ((intents (append (intent--ask "intent.list" nil) nil))
         (names (mapcar (lambda (it) (format "%s  %s" (plist-get it :id) (plist-get it :name)))
                        intents))
         (chosen (completing-read "Intent: " names nil t)))
    (intent--ask "intent.select" (list :id (car (split-string chosen))))
    (message "Working under %s" chosen)))

(provide 'intent)
;;; intent.el ends here
