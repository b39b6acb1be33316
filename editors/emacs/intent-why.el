;;; intent-why.el --- The whole story of a block  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; The windows that `intent-why', `intent-lineage' and `intent-status' open.
;; Part of the package `intent'; see intent.el.

;;; Code:

(require 'intent-client)
(require 'intent-provenance)

(defvar-local intent-why--again nil
  "A function of no arguments that makes this window's text anew.")

(define-derived-mode intent-why-mode special-mode "Intent-Why"
  "What is known of a block of code.
\\<intent-why-mode-map>\\[forward-button] goes to the next link, \\`RET' follows it."
  (setq-local revert-buffer-function
              (lambda (&rest _) (when intent-why--again (funcall intent-why--again)))))

(define-key intent-why-mode-map (kbd "TAB") #'forward-button)
(define-key intent-why-mode-map (kbd "<backtab>") #'backward-button)

(defun intent-why--window (name write)
  "Show a window NAME with the text inserted by WRITE."
  (let ((root intent--root)
        (buffer (get-buffer-create name)))
    (with-current-buffer buffer
      (let ((inhibit-read-only t))
        (intent-why-mode)
        (setq intent--root root)
        (when root (setq default-directory (file-name-as-directory root)))
        (erase-buffer)
        (funcall write)
        (goto-char (point-min))))
    (display-buffer buffer)
    buffer))

(defun intent-why--link (text help then)
  "Insert TEXT as a link to call THEN, with HELP for the mouse."
  (insert-text-button text 'help-echo help 'follow-link t
                      'action (lambda (_) (funcall then))))

(defun intent-why--line (label &rest words)
  "Insert a line with LABEL and those of WORDS that are there."
  (insert (propertize (format "%-9s" label) 'face 'bold)
          (mapconcat #'identity (delq nil words) "  ")
          "\n"))

;;;; Places

(defun intent-why--visit-line (file line &optional column)
  "Visit FILE at LINE, from 1, and COLUMN, from 0."
  (xref-push-marker-stack)
  (pop-to-buffer (find-file-noselect file))
  (widen)
  (goto-char (point-min))
  (forward-line (1- line))
  (when column (move-to-column column)))

(defun intent-why--find (file regexp)
  "The line and column where REGEXP stands in FILE, or nil."
  (when (file-readable-p file)
    (with-temp-buffer
      (insert-file-contents file)
      (when (re-search-forward regexp nil t)
        (goto-char (match-beginning 0))
        (list (line-number-at-pos) (current-column))))))

(defun intent-why--registry (root)
  "The files of the registry of ROOT: the list, and those of one intent each."
  (let ((list (expand-file-name ".orchestration/active_intents.yaml" root))
        (folder (expand-file-name ".orchestration/intents" root)))
    (append (and (file-exists-p list) (list list))
            (and (file-directory-p folder) (directory-files folder t "\\.ya?ml\\'")))))

(defun intent-why--file-of (id root)
  "The file of the registry of ROOT with the intent ID, or nil."
  (seq-find (lambda (file) (intent-why--find file (intent-why--id-regexp id)))
            (intent-why--registry root)))

(defun intent-why--id-regexp (id)
  "A regular expression for the line of the registry with an intent's ID."
  (format "^[ \t]*\\(?:- +\\)?id:[ \t]*[\"']?\\(%s\\)[\"']?[ \t]*\\(?:#.*\\)?$" (regexp-quote id)))

(defun intent-why-visit-intent (id &optional root)
  "Visit the line of the registry of ROOT with an intent's ID."
  (let* ((file (intent-why--file-of id (or root intent--root)))
         (at (and file (intent-why--find file (intent-why--id-regexp id)))))
    (unless at (user-error "The registry does not hold %s" id))
    (intent-why--visit-line file (car at))
    (when (re-search-forward (regexp-quote id) (line-end-position) t)
      (goto-char (match-beginning 0)))))

(defun intent-why-visit-record (id &optional root)
  "Visit the line of the ledger of ROOT with the record ID."
  (let* ((folder (expand-file-name ".orchestration/agent_trace" (or root intent--root)))
         ;; Evidence is known by the digest of its file and by its place behind the header.
         (place (split-string id ":"))
         (evidence (and (cdr place) (file-directory-p folder)
                        (car (directory-files-recursively folder (concat "\\`" (car place))))))
         (found (if evidence
                    (list evidence (+ 2 (string-to-number (cadr place))))
                  (and (file-directory-p folder)
                     (seq-some (lambda (file)
                                 (when-let ((at (intent-why--find file (regexp-quote id))))
                                   (cons file at)))
                               (directory-files-recursively folder "\\.jsonl\\'"))))))
    (unless found (user-error "The ledger does not hold the record %s" id))
    (intent-why--visit-line (car found) (cadr found))))

;;;; A block

(defconst intent-why--meanings
  '(("exact" . "as recorded")
    ("reformatted" . "only white space or layout differs")
    ("renamed" . "names differ, nothing else")
    ("moved" . "as recorded, at another place")
    ("modified" . "changed since it was recorded")
    ("ambiguous" . "two intents brought half of its lines each")
    ("unrecorded" . "no intent brought half of its lines"))
  "What each verdict means.")

(defun intent-why--intent (intent)
  "Insert a link to INTENT, of a block."
  (let ((id (intent--plain (plist-get intent :id))))
    (if (plist-get intent :name)
        (intent-why--link id "Visit the intent in the registry"
                          (lambda () (intent-why-visit-intent (plist-get intent :id))))
      (insert id "  (not in the registry)"))))

(defun intent-why--record (id)
  "Insert a link to the record ID."
  (intent-why--link "record" (format "Visit the record %s in the ledger" id)
                    (lambda () (intent-why-visit-record id))))

(defun intent-why--lineage (block)
  "Insert every record that brought lines of BLOCK, newest first."
  (let ((steps (append (plist-get block :lineage) nil)))
    (unless steps (insert "  nothing is recorded\n"))
    (dolist (step steps)
      (let ((intent (plist-get step :intent))
            (timestamp (plist-get step :timestamp)))
        (insert "  ● ")
        (if intent
            (intent-why--link (intent--plain intent) "Visit the intent in the registry"
                              (lambda () (intent-why-visit-intent intent)))
          (insert "no intent"))
        (insert "  "
                (mapconcat #'intent--plain
                           (delq nil (list (intent-provenance--who step)
                                           (and timestamp (intent-provenance--ago timestamp))))
                           " · ")
                "  ")
        (intent-why--record (plist-get step :record))
        (insert "\n")))))

(defun intent-why--asked (asked)
  "Insert who ASKED, for what, and what must hold."
  (let ((owner (plist-get asked :owner))
        (reasons (append (plist-get asked :tickets) (plist-get asked :related_specs) nil)))
    (when (or owner reasons)
      (intent-why--line (if owner "asked by" "for")
                        (and owner (intent--plain owner))
                        (and owner reasons "for")
                        (and reasons (intent--plain (mapconcat #'identity reasons ", ")))))
    (mapc (lambda (constraint) (intent-why--line "must hold" (concat " " (intent--plain constraint))))
          (plist-get asked :constraints))))

(defun intent-why--shares (block)
  "Who brought how many lines of BLOCK, or nil if one intent brought all."
  (let ((shares (append (plist-get block :shares) nil)))
    (unless (or (null shares) (and (plist-get (car shares) :intent) (null (cdr shares))))
      (mapconcat
       (lambda (share)
         (let ((lines (plist-get share :lines))
               (commit (plist-get share :commit)))
           (format "%d %s %s" lines (if (= lines 1) "line" "lines")
                   (intent--plain
                    (cond
                     ((plist-get share :intent))
                     ((eq (plist-get share :uncommitted) t) "not committed")
                     ((eq (plist-get block :history_missing) t) "history is missing here")
                     (commit (format "git: %s %s" (plist-get commit :author)
                                     (seq-take (plist-get commit :id) 10)))
                     (t "no intent"))))))
       shares ", "))))

(defun intent-why--commit (block)
  "Insert the commit that brought BLOCK, its author and its subject."
  (let* ((commit (plist-get block :commit))
         (id (plist-get commit :id)))
    (cond
     (commit
      (intent-why--line "commit" (substring id 0 (min 10 (length id)))
                        (format "%s: %s" (intent--plain (plist-get commit :author))
                                (intent--plain (plist-get commit :subject)))))
     ((eq (plist-get block :uncommitted) t)
      (intent-why--line "commit" "none yet")))))

(defun intent-why--block (block path)
  "Insert what is known of BLOCK in the file PATH."
  (let ((intent (plist-get block :intent))
        (verdict (plist-get block :verdict))
        (timestamp (plist-get block :timestamp)))
    (if (not intent)
        (insert (propertize "No intent brought half of its lines, as far as is recorded.\n" 'face 'bold))
      (intent-why--intent intent)
      (insert "  " (propertize (intent--plain (or (plist-get intent :name) "")) 'face 'bold)
              "  " (or (plist-get intent :status) "") "\n"))
    (intent-why--asked (plist-get block :asked))
    (intent-why--line "block" (plist-get block :kind) (intent--plain (plist-get block :qualified_name))
                      (format "%s:%d-%d" (intent--plain path)
                              (plist-get block :start_line) (plist-get block :end_line)))
    (when (plist-get block :contributor)
      (intent-why--line "by" (intent--plain
                              (mapconcat #'identity
                                         (delq nil (list (intent-provenance--who block)
                                                         (plist-get (plist-get block :contributor)
                                                                    :model_identifier)
                                                         (intent-provenance--ago timestamp)
                                                         (substring timestamp 0 16)))
                                         " · "))))
    (when-let ((shares (intent-why--shares block)))
      (intent-why--line "lines" shares))
    (when (plist-get block :session)
      (intent-why--line "session" (intent--plain (plist-get block :session))))
    (intent-why--commit block)
    (intent-why--line "verdict"
                      (propertize (intent-provenance--verdict block)
                                  'face (if (intent-provenance--sound-p block)
                                            'success
                                          'warning))
                      (cdr (assoc verdict intent-why--meanings)))
    (when (plist-get block :record)
      (insert (propertize (format "%-9s" "record") 'face 'bold))
      (intent-why--record (plist-get block :record))
      (insert "  strength: " (or (plist-get block :strength) "none") "\n"))
    (when-let ((candidates (append (plist-get block :candidates) nil)))
      (intent-why--line "" (format "%s brought half of the lines each"
                                   (mapconcat (lambda (one) (intent--plain (or (plist-get one :intent) "no intent")))
                                              candidates " and "))))))

(defun intent-why--ask ()
  "What is known of the block at point."
  (let ((answer (intent--call "intent.why" :line (line-number-at-pos nil t))))
    (or (and (append (plist-get answer :blocks) nil) answer)
        (user-error "There is no block here"))))

(defun intent-why--at (buffer place write name)
  "Show a window NAME with the words of WRITE on the block at PLACE in BUFFER."
  (with-current-buffer buffer
    (save-excursion
      (save-restriction
        (widen)
        (goto-char place)
        (let* ((answer (intent-why--ask))
               (block (car (last (append (plist-get answer :blocks) nil))))
               (window (intent-why--window
                        name (lambda () (funcall write block (plist-get answer :path))))))
          (with-current-buffer window
            (setq intent-why--again (lambda () (intent-why--at buffer place write name))))
          window)))))

;;;###autoload
(defun intent-why ()
  "Say why the block at point is here: which intent asked for it, who wrote it."
  (interactive)
  (intent-why--at
   (current-buffer) (copy-marker (point))
   (lambda (block path)
     (intent-why--block block path)
     (insert "\n" (propertize "History" 'face 'bold) "\n")
     (intent-why--lineage block))
   "*intent: why*"))

;;;###autoload
(defun intent-lineage ()
  "Show every record that brought lines of the block at point, newest first."
  (interactive)
  (intent-why--at
   (current-buffer) (copy-marker (point))
   (lambda (block path)
     (insert (propertize (intent--plain (plist-get block :qualified_name)) 'face 'bold)
             "  " (intent--plain path) "\n\n")
     (intent-why--lineage block))
   "*intent: lineage*"))

;;;; The workspace

(defun intent-why--workspace (state)
  "Insert STATE, of a workspace."
  (let ((selected (plist-get state :selected))
        (count (lambda (key) (or (plist-get state key) 0))))
    (insert (propertize (abbreviate-file-name (plist-get state :root)) 'face 'bold) "\n\n")
    (insert (propertize (format "%-9s" "selected") 'face 'bold))
    (cond
     (selected
      (intent-why--intent selected)
      (insert "  " (intent--plain (or (plist-get selected :name) "")) "  "
              (or (plist-get selected :status) "") "\n")
      (intent-why--line "scope" (intent--plain
                                 (mapconcat #'identity (plist-get selected :owned_scope) ", "))))
     ((plist-get state :selection)
      (insert (intent--plain (plist-get state :selection)) "  (not in the registry)\n"))
     (t (insert "none; ")
        (intent-why--link "select one" "intent-select"
                          (lambda () (call-interactively 'intent-select)))
        (insert "\n")))
    (intent-why--line "intents" (format "%d, %d in progress"
                                        (funcall count :intents) (funcall count :in_progress)))
    (intent-why--line "ledger" (format "%d records in no commit" (funcall count :open_records))
                      (format "%d errors" (funcall count :errors))
                      (format "%d warnings" (funcall count :warnings)))
    (when (plist-get state :off)
      (intent-why--line "gate" (propertize "off" 'face 'warning)))
    (unless (zerop (funcall count :waiting))
      (insert (propertize (format "%-9s" "waiting") 'face 'bold))
      (intent-why--link (format "%d" (funcall count :waiting)) "Put the questions again"
                        (lambda () (call-interactively 'intent-review)))
      (insert " of agents' questions\n"))))

;;;###autoload
(defun intent-status ()
  "Show the state of the workspace: intent, ledger, what waits for you."
  (interactive)
  (let ((buffer (current-buffer))
        (state (intent--call "intent.status")))
    (with-current-buffer (intent-why--window "*intent: status*"
                                             (lambda () (intent-why--workspace state)))
      (setq intent-why--again
            (lambda () (with-current-buffer buffer (intent-status)))))))

(provide 'intent-why)
;;; intent-why.el ends here
