;;; intent.el --- Why is this code here?  -*- lexical-binding: t; -*-

;; Author: The authors of intent-lsp
;; Version: 0.2.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: tools, languages, vc
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; Which intent asked for a block of code, who wrote it, was it allowed, and is
;; it still what was recorded?  The server `intent lsp' knows; this package
;; starts it through eglot in every workspace that has an .orchestration/, and
;; adds what eglot has no place for: the selected intent in the mode line,
;; provenance after the line, the history of a block, commands.
;;
;;   (add-to-list 'load-path "/path/to/intent-lsp/editors/emacs")
;;   (require 'intent)
;;   (global-intent-mode)
;;   (define-key intent-mode-map (kbd "C-c i") intent-command-map)   ; if you like
;;
;; eglot lets one server manage a buffer.  Where a mode has a server of its own
;; that is installed, that one does, and ours runs beside it: see
;; `intent-beside'.  `intent-take-over' has ours manage such a buffer instead.

;;; Code:

(require 'intent-client)
(require 'intent-beside)
(require 'intent-line)
(require 'intent-list)
(require 'intent-provenance)
(require 'intent-why)
(require 'easymenu)
(require 'xref)

(declare-function yaml-mode "yaml-mode" ())
(declare-function yaml-ts-mode "yaml-ts-mode" ())
(declare-function js-json-mode "js" ())
(declare-function treesit-ready-p "treesit" (language &optional quiet))

;;;; Choosing an intent

(defun intent--list ()
  "The intents of the workspace."
  (append (intent--call "intent.list") nil))

(defun intent--annotation (it)
  "What stands beside the intent IT where one is chosen."
  (concat "  "
          (intent--plain (or (plist-get it :name) ""))
          (propertize (format "  %s  %s%s"
                              (or (plist-get it :status) "")
                              (intent--plain (mapconcat #'identity (plist-get it :owned_scope) ", "))
                              (if (eq (plist-get it :selected) t) "  selected" ""))
                      'face 'shadow)))

(defun intent--read (prompt)
  "Let the person choose an intent at PROMPT; the answer is its id."
  (let* ((intents (or (intent--list) (user-error "The registry holds no intent")))
         (ids (mapcar (lambda (it) (plist-get it :id)) intents))
         (near (thing-at-point 'symbol t))
         (selected (seq-find (lambda (it) (eq (plist-get it :selected) t)) intents))
         (default (or (car (member near ids)) (plist-get selected :id)))
         (completion-extra-properties
          (list :annotation-function
                (lambda (id)
                  (intent--annotation
                   (seq-find (lambda (it) (equal (plist-get it :id) id)) intents))))))
    (completing-read (if default (format "%s (default %s): " prompt default)
                       (format "%s: " prompt))
                     ids nil t nil nil default)))

;;;###autoload
(defun intent-select (id)
  "Work under the intent ID from now on."
  (interactive (list (intent--read "Select the intent")))
  (let* ((answer (intent--call "intent.select" :id id))
         (overlaps (append (plist-get answer :overlaps) nil)))
    (message "Working under %s %s%s" id
             (intent--plain (or (plist-get (plist-get answer :intent) :name) ""))
             (if overlaps (format " (its scope overlaps %d others)" (length overlaps)) ""))))

;;;###autoload
(defun intent-clear ()
  "Work under no intent."
  (interactive)
  (let ((cleared (plist-get (intent--call "intent.clear") :cleared)))
    (message (if cleared "No intent is selected any more; it was %s" "No intent was selected")
             cleared)))

;;;; Recording

(defun intent--save (files)
  "Offer to save those of FILES that are visited and not saved."
  (save-some-buffers nil (lambda ()
                           (and buffer-file-name
                                (member (file-truename buffer-file-name)
                                        (mapcar #'file-truename files))))))

(defun intent--buffers ()
  "The files of this workspace that are visited."
  (delq nil (mapcar (lambda (buffer)
                      (let ((file (buffer-file-name buffer)))
                        (and file (equal (buffer-local-value 'intent--root buffer) intent--root)
                             file)))
                    (buffer-list))))

;;;###autoload
(defun intent-record (&optional everything)
  "Record what changed in this file under the selected intent.
With a prefix argument, EVERYTHING that changed in the workspace."
  (interactive "P")
  (unless (or everything buffer-file-name) (user-error "This buffer has no file"))
  (intent--save (if everything (intent--buffers) (list buffer-file-name)))
  (let* ((answer (if everything
                     (intent--call "intent.record" :paths [] :all t)
                   (intent--call "intent.record" :paths (vector (intent--uri buffer-file-name)))))
         (recorded (append (plist-get answer :recorded) nil))
         (skipped (append (plist-get answer :skipped) nil))
         (blocks (apply #'+ (mapcar (lambda (it) (or (plist-get it :blocks) 0)) recorded)))
         (ids (delete-dups (delq nil (mapcar (lambda (it) (plist-get it :intent)) recorded)))))
    (message "Recorded %d block%s in %d file%s%s%s"
             blocks (if (= blocks 1) "" "s")
             (length recorded) (if (= (length recorded) 1) "" "s")
             (if ids (concat " under " (mapconcat #'identity ids ", ")) "")
             (mapconcat (lambda (it)
                          (format "; not %s: %s"
                                  (intent--plain (plist-get it :path)) (plist-get it :reason)))
                        skipped ""))
    (intent-provenance-refresh)))

;;;###autoload
(defun intent-accept ()
  "Settle the block at point as it stands; the server asks first."
  (interactive)
  (intent--save (list buffer-file-name))
  (setq intent--reviewing (+ (float-time) 10))
  ;; Not waited for: a person may take long to answer the server's question.
  (let ((buffer (current-buffer)))
    (intent--call-later "intent.accept" (list :line (line-number-at-pos nil t))
                        (lambda (_) (intent-provenance-refresh buffer))
                        (lambda (said) (message "%s" said)))))

;;;; Going places

;;;###autoload
(defun intent-goto ()
  "Go to the intent that asked for the block at point, or to its record."
  (interactive)
  (intent--call "intent.show" :line (line-number-at-pos nil t)))

(defun intent--blocks (id)
  "The blocks that the intent ID asked for, as items of xref."
  (let ((found (append (intent--request :workspace/symbol (list :query id)) nil)))
    (cl-loop
     for it in found
     for location = (plist-get it :location)
     for file = (intent--path (plist-get location :uri))
     for start = (plist-get (plist-get location :range) :start)
     for name = (plist-get it :name)
     when (string-prefix-p (concat id " ") name)
     unless (seq-some (lambda (it) (file-equal-p file it)) (intent-why--registry intent--root))
     collect (xref-make (intent--plain (string-remove-prefix (concat id " ") name))
                        (xref-make-file-location file (1+ (plist-get start :line))
                                                 (plist-get start :character))))))

;;;###autoload
(defun intent-blocks (id)
  "List the blocks that the intent ID asked for."
  (interactive (list (intent--read "Blocks of the intent")))
  (let ((blocks (intent--blocks id)))
    (unless blocks (user-error "No block is recorded under %s" id))
    ;; A list even where it has one row.
    (let ((xref-auto-jump-to-first-xref nil))
      (with-current-buffer (get-buffer-create "*xref*")
        (xref-show-xrefs (lambda () blocks) nil)))))

;;;; Changing the registry

(defun intent--registry-buffer (id)
  "The file of the registry with the intent ID, in a buffer of our server."
  (let ((file (intent-why--file-of id intent--root)))
    (unless file (user-error "The registry does not hold %s" id))
    (with-current-buffer (find-file-noselect file)
      (unless (or (intent--managing-p) intent-beside-mode)
        (intent-mode 1)
        (unless (or (intent--managing-p) intent-beside-mode) (intent--connect)))
      (current-buffer))))

(defun intent--edited-files (edit)
  "The files in EDIT."
  (append
   (cl-loop for (uri _) on (plist-get edit :changes) by #'cddr
            collect (intent--path (string-remove-prefix ":" (format "%s" uri))))
   (mapcar (lambda (it) (intent--path (plist-get (plist-get it :textDocument) :uri)))
           (append (plist-get edit :documentChanges) nil))))

;;;###autoload
(defun intent-rename (id new)
  "Give the intent ID the id NEW, in the registry and where it is mentioned.
The ledger keeps the old one: what was recorded stays as it is."
  (interactive
   (let ((id (intent--read "Rename the intent")))
     (list id (read-string (format "Rename %s to: " id) nil nil id))))
  (let ((edit (with-current-buffer (intent--registry-buffer id)
                (save-excursion
                  (save-restriction
                    (widen)
                    (goto-char (point-min))
                    (unless (re-search-forward (intent-why--id-regexp id) nil t)
                      (user-error "The registry does not hold %s" id))
                    (goto-char (match-beginning 1))
                    (intent--request :textDocument/rename
                                     (list :textDocument (intent--here)
                                           :position (intent-beside--position (point))
                                           :newName new)))))))
    (if intent-beside-mode
        (intent-beside-apply-edit edit)
      (intent--apply-edit edit))
    (intent--save (intent--edited-files edit))))

;;;###autoload
(defun intent-code-actions ()
  "Choose what to do about the block at point: select, widen, record, accept.
What it changes in files that it had to open is offered for saving."
  (interactive)
  (intent--server-or-lose)
  (intent--flush)
  (if intent-beside-mode
      (intent-beside-code-actions)
    (eglot-code-actions (line-beginning-position) (line-end-position) nil t))
  (intent--save (intent-why--registry intent--root)))

;;;; Agents' questions

;;;###autoload
(defun intent-review ()
  "Put the questions of agents that wait for you again."
  (interactive)
  (setq intent--reviewing (+ (float-time) 10))
  (let ((waiting (or (plist-get (intent--call "intent.review") :waiting) 0)))
    (when (zerop waiting)
      (setq intent--reviewing 0)
      (message "Nothing waits for you"))))

;;;; The rest

;;;###autoload
(defun intent-report ()
  "Write the report of the workspace to a temporary file and open it."
  (interactive)
  (let* ((root (or intent--root (intent--workspace default-directory)
                   (user-error "There is no .orchestration/ above this file")))
         (program (or (intent--find-program root)
                      (user-error "There is no `intent' on exec-path")))
         (file (make-temp-file "intent-report-" nil ".html"))
         (default-directory (file-name-as-directory root)))
    (with-temp-buffer
      (unless (eql 0 (call-process program nil t nil "report" "--html" "--out" file))
        (delete-file file)
        (user-error "No report: %s" (string-trim (buffer-string)))))
    (browse-url-of-file file)))

(defun intent-restart ()
  "Start the server of this workspace anew."
  (interactive)
  (eglot-reconnect (intent--server-or-lose)))

(defun intent-log ()
  "Show what the server wrote to its log."
  (interactive)
  (display-buffer (jsonrpc-stderr-buffer (intent--server-or-lose))))

;;;; The mode

(defun intent--words (state)
  "STATE of a workspace in a few characters."
  (let ((count (lambda (key) (or (plist-get state key) 0))))
    (concat
     (intent--plain (or (plist-get state :selection) "no intent"))
     (if (plist-get state :off) " off" "")
     (if (zerop (funcall count :errors)) "" (format " !%d" (funcall count :errors)))
     (if (zerop (funcall count :waiting)) "" (format " ?%d" (funcall count :waiting))))))

(defvar intent--mode-line-map
  (let ((map (make-sparse-keymap)))
    (define-key map [mode-line mouse-1] #'intent-select)
    (define-key map [mode-line mouse-3] #'intent-status)
    map)
  "What a click on the mode line does.")

(defun intent--lighter ()
  "Words for the mode line: selected intent, errors, waiting questions."
  (when-let ((state (and intent--root (gethash intent--root intent--states))))
    (let ((waits (not (zerop (or (plist-get state :waiting) 0)))))
      ;; A percent sign would be an instruction.
      (propertize (concat " " (replace-regexp-in-string "%" "%%" (intent--words state)))
                  'face (if waits 'warning 'mode-line-emphasis)
                  'mouse-face 'mode-line-highlight
                  'local-map intent--mode-line-map
                  'help-echo (concat (intent--plain
                                      (or (plist-get (plist-get state :selected) :name)
                                          "No intent is selected"))
                                     (if waits "\nAgents ask you something: M-x intent-review" "")
                                     "\nmouse-1: select an intent\nmouse-3: status")))))

(defcustom intent-lighter '(:eval (intent--lighter))
  "What `intent-mode' shows in the mode line."
  :type 'sexp
  :risky t
  :group 'intent)

;;;###autoload (autoload 'intent-command-map "intent" nil t 'keymap)
(defvar intent-command-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("s" . intent-select) ("c" . intent-clear) ("v" . intent-list) ("w" . intent-why)
                     ("l" . intent-lineage) ("r" . intent-record) ("g" . intent-goto)
                     ("b" . intent-blocks) ("n" . intent-rename) ("q" . intent-review)
                     ("i" . intent-status) ("a" . intent-code-actions)
                     ("p" . intent-provenance-mode) ("e" . intent-lines-cycle) ("h" . intent-report)
                     ("t" . intent-take-over)))
      (define-key map (kbd key) command))
    map)
  "Commands about intents.  Bound to no key: bind it as you like.")
(fset 'intent-command-map intent-command-map)

(defvar intent-mode-map (make-sparse-keymap)
  "Keys of `intent-mode'; none by default.")

(easy-menu-define intent-menu intent-mode-map
  "What can be done about intents."
  '("Intent"
    ["All intents" intent-list]
    ["Select…" intent-select]
    ["Clear" intent-clear]
    "--"
    ["Why is this here?" intent-why]
    ["History of the block" intent-lineage]
    ["Go to its intent" intent-goto]
    ["Blocks of an intent…" intent-blocks]
    "--"
    ["Record this file" intent-record]
    ["Actions here…" intent-code-actions]
    ["Accept as it stands…" intent-accept]
    ["Rename an intent…" intent-rename]
    "--"
    ["Provenance after the lines" intent-provenance-mode
     :style toggle :selected (bound-and-true-p intent-provenance-mode)]
    ["Whose a line is: off, line, all" intent-lines-cycle]
    ["Agents' questions" intent-review]
    ["Status" intent-status]
    ["Report" intent-report]
    ["Restart the server" intent-restart]
    ["Log" intent-log]))

(defun intent--readable-p ()
  "Whether the server can say something about the file of this buffer."
  (and buffer-file-name
       (not (buffer-base-buffer))
       (derived-mode-p 'prog-mode 'text-mode 'conf-mode)))

;;;###autoload
(defun intent-ensure ()
  "Have our server manage this buffer, or run beside the mode's own.
One that is not installed does not count.
Does nothing outside of workspaces with an .orchestration/."
  (when (and (intent--readable-p)
             (setq intent--root (intent--workspace buffer-file-name))
             (intent--find-program intent--root)
             (not (intent--managing-p)))
    (cond
     ((or (eglot-managed-p) (intent--others-program))
      (when (and intent-beside (not intent-beside-mode)) (intent-beside-mode 1)))
     ((intent--running) (intent--adopt (intent--running)))
     (t (intent--register) (eglot-ensure)))))

;;;###autoload
(defun intent-take-over ()
  "Have our server manage this buffer, instead of the mode's own.
The other server stops managing all buffers of this mode in the project."
  (interactive)
  (setq intent--root (or (intent--workspace buffer-file-name)
                         (user-error "There is no .orchestration/ above this file")))
  (unless (intent--find-program intent--root)
    (user-error "There is no `%s' on exec-path" (default-value 'intent-program)))
  (unless (intent--managing-p)
    (intent-beside-mode -1)
    (when (eglot-managed-p) (eglot-shutdown (eglot-current-server)))
    (intent--connect))
  (intent-mode 1))

(defun intent--show-all ()
  "Show the hover and the diagnostic at point together.
The eglot of Emacs 28 shows only the first of them."
  (when (and (intent--managing-p)
             (eq eldoc-documentation-strategy #'eldoc-documentation-enthusiast))
    (setq-local eldoc-documentation-strategy #'eldoc-documentation-compose)))

;;;###autoload
(define-minor-mode intent-mode
  "Show which intents asked for the code of this buffer, and work under one.
Does nothing where no .orchestration/ lies above the file.

\\{intent-mode-map}"
  :lighter intent-lighter
  :keymap intent-mode-map
  (if (not intent-mode)
      (progn
        (when intent-beside-mode (intent-beside-mode -1))
        (remove-hook 'eglot-managed-mode-hook #'intent--show-all t)
        (when intent-line-mode (intent-line-mode -1))
        (when intent-provenance-mode (intent-provenance-mode -1)))
    (setq intent--root (intent--workspace buffer-file-name))
    (if (not intent--root)
        (setq intent-mode nil)
      (add-hook 'eglot-managed-mode-hook #'intent--show-all nil t)
      (intent-ensure)
      (intent-line-mode 1)
      (when (or (eq intent-provenance 'overlay)
                (and (eq intent-provenance 'inlay) (< emacs-major-version 29)))
        (intent-provenance-mode 1)))))

(defun intent--turn-on ()
  "Turn on `intent-mode' in files of workspaces with intents."
  (when (and (intent--readable-p) (intent--workspace buffer-file-name))
    (intent-mode 1)))

;;;###autoload
(define-globalized-minor-mode global-intent-mode intent-mode intent--turn-on
  :group 'intent)

;;;; The registry where Emacs has no mode for YAML

(define-derived-mode intent-registry-mode prog-mode "Registry"
  "The registry of intents, where Emacs has no mode for YAML."
  (setq-local comment-start "# "
              comment-start-skip "#+[ \t]*"
              indent-tabs-mode nil
              font-lock-defaults
              '((("^[ \t]*\\(?:- +\\)?\\([A-Za-z_]+\\):" 1 font-lock-variable-name-face)
                 ("\\(?:^\\|[ \t]\\)\\(#.*\\)$" 1 font-lock-comment-face t)
                 ("\"[^\"\n]*\"" . font-lock-string-face))))
  (modify-syntax-entry ?_ "_")
  (modify-syntax-entry ?- "_"))

;;;###autoload
(defun intent-registry-mode-maybe ()
  "The mode for YAML that Emacs has, or `intent-registry-mode'."
  (cond ((fboundp 'yaml-mode) (yaml-mode))
        ((and (fboundp 'treesit-available-p) (treesit-available-p)
              (require 'treesit) (treesit-ready-p 'yaml t))
         (yaml-ts-mode))
        (t (intent-registry-mode))))

;;;###autoload
(add-to-list 'auto-mode-alist
             '("/\\.orchestration/[^/]+\\.ya?ml\\'" . intent-registry-mode-maybe))

;;;; Notebooks, which are JSON here

;;;###autoload
(defun intent-notebook-mode ()
  "The mode for JSON that Emacs has."
  (if (fboundp 'js-json-mode) (js-json-mode) (js-mode)))

;; At the end, so that a package for notebooks comes first.
;;;###autoload
(add-to-list 'auto-mode-alist '("\\.ipynb\\'" . intent-notebook-mode) t)

(provide 'intent)
;;; intent.el ends here
