;;; intent-client.el --- The server of intent, and how it is asked  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Finds and starts `intent lsp' through eglot, answers what it asks of Emacs,
;; and sends it commands.  Part of the package `intent'; see intent.el.
;;
;; eglot runs one server for a buffer, one for each major mode of a project.
;; Ours is about all files of a workspace: here one server takes in the major
;; modes as files of them are opened, so that an agent's question is put once
;; and an edit of the registry that is not saved is seen.

;;; Code:

(require 'eglot)
(require 'cl-lib)
(require 'seq)

(defgroup intent nil
  "Why is this code here?"
  :group 'tools
  :prefix "intent-")

(defcustom intent-program "intent"
  "The program: a name to look for on variable `exec-path', or an absolute name.
Only its global value counts; neither a file nor a folder can set it.
What lies inside the workspace is never run."
  :type 'string)
(put 'intent-program 'risky-local-variable t)

(defcustom intent-provenance 'overlay
  "Where provenance is seen at a glance; one place at a time.
With `overlay', this package writes it after the first line of each recorded
definition, as `intent-provenance-template' says.  With `inlay', the server's
inlay hints show it; they need Emacs 29 or later."
  :type '(choice (const :tag "After the line, by the template" overlay)
                 (const :tag "Inlay hints of the server" inlay)
                 (const :tag "Nowhere" nil)))

(defcustom intent-levels nil
  "How loud the diagnostics are, by code.
The codes are in docs/diagnostics of intent-lsp."
  :type '(alist :key-type (string :tag "Code")
                :value-type (choice (const "off") (const "hint") (const "info")
                                    (const "warning") (const "error"))))

(defcustom intent-questions 'at-once
  "When an agent's question is put to you.
With `at-once', in the minibuffer as it comes, unless you are busy there or
typed something within the last seconds.  With `on-review', only when you call
`intent-review'.  A question that is not put waits; the mode line says so."
  :type '(choice (const at-once) (const on-review)))

(defcustom intent-status-functions nil
  "Functions called with the state of a workspace whenever it changes.
The state is a property list, as the command `intent.status' answers it."
  :type 'hook)

(defvar-local intent--root nil
  "The workspace of this buffer, without a slash at its end; nil where none is.")

(defvar intent--states (make-hash-table :test #'equal)
  "The last known state of each workspace, by its root.")

(defvar intent--reviewing 0
  "Until when questions are put even though the person is not idle.")

(defconst intent--pause 2
  "Seconds without a key after which a question may take the minibuffer.")

;;;; Words

(defun intent--plain (text)
  "TEXT of somebody else with what cannot be seen, or hides the rest, as U+202E."
  (replace-regexp-in-string
   "[\0-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
   (lambda (it) (format "U+%04X" (aref it 0)))
   text t t))

(defun intent--plain-lines (text)
  "TEXT of somebody else as `intent--plain' has it, but with its lines."
  (mapconcat #'intent--plain (split-string text "\n") "\n"))

;;;; The program and the workspace

(defun intent--workspace (file)
  "The root of the workspace that FILE lies in, or nil."
  (when (and file (not (file-remote-p file)))
    (when-let ((root (locate-dominating-file file ".orchestration")))
      (directory-file-name (file-truename root)))))

(defun intent--find-program (&optional root)
  "The absolute name of the program, or nil; never one inside ROOT."
  (let* ((wanted (default-value 'intent-program))
         (folders (seq-filter #'file-name-absolute-p (seq-filter #'stringp exec-path)))
         (outside (lambda (name)
                    (not (and root (file-in-directory-p (file-truename name) root))))))
    (if (file-name-absolute-p wanted)
        (and (file-executable-p wanted) (funcall outside wanted) wanted)
      (unless (file-name-directory wanted)
        (let ((folders (seq-filter outside folders)))
          (locate-file wanted folders exec-suffixes
                       (lambda (name) (and (file-regular-p name) (file-executable-p name)
                                           (funcall outside name)))))))))

(defun intent--uri (file)
  "FILE as an address."
  (if (fboundp 'eglot-path-to-uri)
      (eglot-path-to-uri file)
    (with-no-warnings (eglot--path-to-uri file))))

(defun intent--path (uri)
  "The file that URI names."
  (if (fboundp 'eglot-uri-to-path)
      (eglot-uri-to-path uri)
    (with-no-warnings (eglot--uri-to-path uri))))

;;;; The server

(defclass intent-server (eglot-lsp-server) ()
  :documentation "A running `intent lsp'.")

(defun intent--flag (it)
  "IT as a boolean of JSON."
  (if it t :json-false))

(cl-defmethod eglot-initialization-options ((_server intent-server))
  "What the server is told at its start."
  (append
   (list :interactive t
         :saves t
         :status t
         :codeLens :json-false
         :inlayHints (intent--flag (eq intent-provenance 'inlay)))
   (when intent-levels
     (list :levels (cl-loop for (code . level) in intent-levels
                            append (list (intern (concat ":" code)) level))))))

(cl-defmethod eglot-client-capabilities ((_server intent-server))
  "What Emacs can do: eglot's answer, and what only this package does.
That is to show a place, in older eglots, and to put a question: eglot always
could, but never says so."
  (let* ((all (cl-call-next-method))
         (window (copy-sequence (plist-get all :window))))
    (plist-put (copy-sequence all) :window
               (append '(:showMessage (:messageActionItem (:additionalPropertiesSupport :json-false)))
                       (or window '(:showDocument (:support t)))))))

(cl-defmethod eglot-handle-notification
  ((_server intent-server) (_method (eql 'intent/status)) &rest state)
  "Keep the STATE of a workspace, for the mode line and for who wants it."
  (puthash (plist-get state :root) state intent--states)
  (run-hook-with-args 'intent-status-functions state)
  (force-mode-line-update t))

(cl-defmethod eglot-handle-request
  ((_server intent-server) (_method (eql 'window/showDocument))
   &key uri external selection &allow-other-keys)
  "Show the place in URI marked by SELECTION, but nothing EXTERNAL."
  (if (eq external t)
      '(:success :json-false)
    (let ((file (intent--path uri)))
      (if (not (file-readable-p file))
          '(:success :json-false)
        ;; Later: a window must not change under the request that led here.
        (run-with-timer 0 nil #'intent--visit file (plist-get selection :start))
        '(:success t)))))

(defun intent--visit (file start)
  "Visit FILE at START, a position as the protocol has it, or nil."
  (xref-push-marker-stack)
  (pop-to-buffer (find-file-noselect file))
  (when start
    (widen)
    (goto-char (eglot--lsp-position-to-point start))))

(defun intent--busy-p ()
  "Whether a question would get in the way of what somebody types."
  (and (not noninteractive)
       (or (active-minibuffer-window)
           executing-kbd-macro
           (and (> (float-time) intent--reviewing)
                (or (eq intent-questions 'on-review)
                    (let ((idle (current-idle-time)))
                      (or (null idle) (< (float-time idle) intent--pause))))))))

(cl-defmethod eglot-handle-request
  ((_server intent-server) (_method (eql 'window/showMessageRequest))
   &key message actions &allow-other-keys)
  "Put MESSAGE to the person, who takes one of ACTIONS or decides later.
Unlike with eglot's own question, an empty answer decides nothing."
  (let ((titles (mapcar (lambda (action) (plist-get action :title)) actions))
        (later "Later"))
    (if (intent--busy-p)
        (progn
          (message "An agent asks you something: M-x intent-review")
          nil)
      (let ((chosen (condition-case nil
                        (completing-read (format "%s\nYour answer (empty: later): " message)
                                         (append titles (list later)) nil t nil nil later)
                      (quit later))))
        (when (member chosen titles)
          (list :title chosen))))))

(cl-defmethod eglot-handle-request
  ((_server intent-server) (_method (eql 'workspace/applyEdit)) &key edit &allow-other-keys)
  "Make EDIT, which the person has just asked for, without asking again."
  (cl-progv (if (boundp 'eglot-confirm-server-edits)
                '(eglot-confirm-server-edits)
              '(eglot-confirm-server-initiated-edits))
      '(nil)
    (intent--apply-edit edit))
  '(:applied t))

(cl-defmethod eglot-handle-request
  ((_server intent-server) (_method (eql 'intent/save)) &key uri &allow-other-keys)
  "Save the file at URI, which the server has just changed at a person's wish."
  (when-let ((buffer (find-buffer-visiting (intent--path uri))))
    (with-current-buffer buffer
      (save-buffer)))
  nil)

;;;; The hooks of a mode

(defun intent--follow (hooks on)
  "Put HOOKS, each with its function, into the lists of this buffer.
If ON is nil, take them out."
  (pcase-dolist (`(,hook ,function ,depth) hooks)
    (if on
        (add-hook hook function depth t)
      (remove-hook hook function t))))

;;;; Which server a buffer has

(defun intent--ours-p (server)
  "Whether SERVER is a running `intent lsp'."
  (and server (cl-typep server 'intent-server) (jsonrpc-running-p server)))

(defun intent--managing-p ()
  "Whether our server manages this buffer."
  (and (eglot-managed-p) (intent--ours-p (eglot-current-server))))

(defun intent--server ()
  "The server to ask about this buffer, or nil."
  (if (intent--managing-p) (eglot-current-server) (intent--running)))

(defun intent--running ()
  "The running server of this buffer's project, or nil."
  (seq-find #'intent--ours-p (gethash (eglot--current-project) eglot--servers-by-project)))

(defun intent--language-id ()
  "The protocol's word for the language of this buffer."
  (replace-regexp-in-string "\\(?:-ts\\)?-mode\\'" "" (symbol-name major-mode)))

(defun intent--adopt (server)
  "Have SERVER manage this buffer's major mode, too."
  (let ((slot (if (slot-exists-p server 'languages) 'languages 'major-modes)))
    (eieio-oset server slot
                (append (eieio-oref server slot)
                        (list (if (eq slot 'languages)
                                  (cons major-mode (intent--language-id))
                                major-mode)))))
  (eglot--maybe-activate-editing-mode))

(defun intent--others-program ()
  "The program of another server that eglot would start here, or nil.
Nil also where that program is not installed."
  (let* ((eglot-server-programs (default-value 'eglot-server-programs))
         (found (eglot--lookup-mode major-mode))
         (contact (if (fboundp 'eglot--languages) (cdr found) (nth 2 found)))
         (contact (if (functionp contact)
                      (ignore-errors
                        (if (eq (cdr (func-arity contact)) 2)
                            (funcall contact nil (eglot--current-project))
                          (funcall contact nil)))
                    contact)))
    (cond
     ((not (consp contact)) nil)
     ((stringp (car contact)) (executable-find (car contact)))
     ;; A class with its arguments, or a process.
     ((and (symbolp (car contact)) (stringp (cadr contact))) (executable-find (cadr contact)))
     (t contact))))

(defun intent--register ()
  "Make eglot start our server for this buffer's major mode."
  (setq-local eglot-server-programs
              (cons (list major-mode 'intent-server (intent--find-program intent--root) "lsp")
                    (default-value 'eglot-server-programs))))

(defun intent--connect ()
  "Have our server manage this buffer, now."
  (let ((running (intent--running)))
    (if running
        (intent--adopt running)
      (intent--register)
      (apply #'eglot--connect (eglot--guess-contact)))))

;;;; Asking it

(defun intent--server-or-lose ()
  "The server of this buffer, or a word to the person why there is none."
  (or (intent--server)
      (user-error
       (cond ((not (intent--workspace (or buffer-file-name default-directory)))
              "There is no .orchestration/ above this file")
             ((not (intent--find-program intent--root))
              "There is no `intent' on exec-path")
             (t "No `intent lsp' runs here; try M-x intent-take-over")))))

(defvar intent-attached-hook nil
  "Run in a buffer that our server was told of, beside another one.")

(defvar intent-flush-functions nil
  "Functions that send what was typed in this buffer and not yet sent.")

(defun intent--flush ()
  "Send what was typed and not yet sent."
  (run-hooks 'intent-flush-functions)
  (when (eglot-managed-p)
    (eglot--signal-textDocument/didChange)))

(defun intent--request (method params)
  "Send METHOD with PARAMS; what the server refuses is the person's error."
  (let ((server (intent--server-or-lose)))
    (intent--flush)
    (condition-case refused
        (jsonrpc-request server method params)
      (jsonrpc-error
       (user-error "%s" (or (alist-get 'jsonrpc-error-message (cdr refused))
                            (error-message-string refused)))))))

(defun intent--here ()
  "The argument about which file, and so which workspace, is meant."
  (list :uri (intent--uri (or buffer-file-name default-directory))))

(defun intent--call (command &rest arguments)
  "Have the server execute COMMAND with ARGUMENTS, a property list."
  (intent--request :workspace/executeCommand
                   (list :command command
                         :arguments (vector (append (intent--here) arguments)))))

(defun intent--call-later (command arguments then &optional refused)
  "Have COMMAND executed with ARGUMENTS, and call THEN with its result.
REFUSED is called with what the server says instead, if it is given."
  (when-let ((server (intent--server)))
    (intent--flush)
    (jsonrpc-async-request
     server :workspace/executeCommand
     (list :command command :arguments (vector (append (intent--here) arguments)))
     :success-fn then
     :error-fn (lambda (error)
                 (when refused (funcall refused (plist-get error :message))))
     :timeout nil)))

(defun intent--apply-edit (edit)
  "Apply EDIT of the workspace, whatever this eglot wants to be told."
  (if (eq (cdr (func-arity #'eglot--apply-workspace-edit)) 2)
      (if (boundp 'eglot-confirm-server-edits)
          (eglot--apply-workspace-edit edit this-command)
        (eglot--apply-workspace-edit edit nil))
    (with-no-warnings (eglot--apply-workspace-edit edit))))

(provide 'intent-client)
;;; intent-client.el ends here
