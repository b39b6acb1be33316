;;; intent-list.el --- All intents of a workspace  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; `intent-list' shows the intents of the workspace in a window: what is worked
;; on first, with progress and source.  Part of the package `intent'; see
;; intent.el.

;;; Code:

(require 'intent-client)
(require 'intent-why)
(require 'tabulated-list)

(declare-function intent-select "intent" (id))
(declare-function intent-blocks "intent" (id))

(defconst intent-list--states
  '("IN_PROGRESS" "BLOCKED" "PENDING" "DRAFT" "COMPLETED" "ARCHIVED")
  "The states in the order of the list.")

(defconst intent-list--sources
  '(("openspec" . "OpenSpec") ("speckit" . "Spec Kit") ("kiro" . "Kiro")
    ("backlog" . "Backlog.md") ("bmad" . "BMAD") ("taskmaster" . "Taskmaster")
    ("conductor" . "Conductor") ("adr" . "decision record"))
  "What the formats of intents are called.")

(defun intent-list--progress (it)
  "How far the intent IT is, as far as is known.
A criterion counts if a passed test shows it."
  (let* ((criteria (plist-get it :criteria))
         (all (plist-get criteria :all))
         (shown (plist-get criteria :shown))
         (tasks (plist-get it :tasks)))
    (cond (criteria (format "%s%d %s" (if shown (format "%d of " shown) "")
                            all (if (= all 1) "criterion" "criteria")))
          (tasks (format "%d of %d task%s" (or (plist-get it :tasks_done) 0)
                         tasks (if (= tasks 1) "" "s")))
          (t ""))))

(defun intent-list--state (it)
  "The state of the intent IT in words."
  (let ((status (plist-get it :status)))
    (if status
        (replace-regexp-in-string "_" " " (downcase (intent--plain status)))
      "no known status")))

(defun intent-list--entry (it)
  "The row of the intent IT."
  (let ((source (plist-get it :source)))
    (list it (vector (if (eq (plist-get it :selected) t) "*" "")
                     (intent--plain (plist-get it :id))
                     (intent-list--state it)
                     (intent--plain (or (plist-get it :name) ""))
                     (intent-list--progress it)
                     (if source
                         (or (cdr (assoc source intent-list--sources)) (intent--plain source))
                       "")))))

(defun intent-list--place (it)
  "A number by which the intent IT is sorted: the selected one, then by state."
  (cond ((eq (plist-get it :selected) t) -1)
        ((seq-position intent-list--states (plist-get it :status)))
        (t (length intent-list--states))))

(defun intent-list--refresh ()
  "Ask for the intents again."
  (setq tabulated-list-entries
        (mapcar #'intent-list--entry
                (seq-sort-by #'intent-list--place #'<
                             (append (intent--call "intent.list") nil)))))

(defun intent-list--here ()
  "The intent of this row."
  (or (tabulated-list-get-id) (user-error "There is no intent in this row")))

(defun intent-list-visit ()
  "Go to the intent of this row: in the registry, or in the format that has it."
  (interactive)
  (let* ((it (intent-list--here))
         (id (plist-get it :id))
         (unit (plist-get it :unit)))
    (if (and unit (not (intent-why--file-of id intent--root)))
        (find-file (expand-file-name unit intent--root))
      (intent-why-visit-intent id))))

(defun intent-list-select ()
  "Work under the intent of this row from now on."
  (interactive)
  (intent-select (plist-get (intent-list--here) :id))
  (revert-buffer))

(defun intent-list-blocks ()
  "List the blocks that the intent of this row asked for."
  (interactive)
  (intent-blocks (plist-get (intent-list--here) :id)))

(defvar intent-list-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map tabulated-list-mode-map)
    (define-key map (kbd "RET") #'intent-list-visit)
    (define-key map (kbd "s") #'intent-list-select)
    (define-key map (kbd "b") #'intent-list-blocks)
    map)
  "Keys of the list of intents.")

(define-derived-mode intent-list-mode tabulated-list-mode "Intents"
  "The intents of a workspace.
\\<intent-list-mode-map>\\[intent-list-visit] goes to one, \\[intent-list-select] selects it, \\[intent-list-blocks] lists its blocks.

\\{intent-list-mode-map}"
  (setq tabulated-list-format [("" 1) ("Id" 12) ("State" 12) ("Name" 44)
                               ("Progress" 16) ("Source" 12)])
  (add-hook 'tabulated-list-revert-hook #'intent-list--refresh nil t)
  (tabulated-list-init-header))

;;;###autoload
(defun intent-list ()
  "List the intents of the workspace, what is worked on first."
  (interactive)
  (let ((root (or intent--root (user-error "There is no .orchestration/ above this file"))))
    (with-current-buffer (get-buffer-create "*intents*")
      (intent-list-mode)
      (setq intent--root root
            default-directory (file-name-as-directory root))
      (intent-list--refresh)
      (tabulated-list-print)
      (pop-to-buffer (current-buffer)))))

(provide 'intent-list)
;;; intent-list.el ends here
