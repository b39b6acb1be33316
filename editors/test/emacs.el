;;; Run by emacs.sh.  Exit code 1 when anything failed.  -*- lexical-binding: t; -*-

(require 'flymake)
(require 'eglot)
(setq eglot-sync-connect 10
      eglot-autoshutdown nil
      eglot-confirm-server-initiated-edits nil)
(define-derived-mode shop-mode prog-mode "Shop")
(add-to-list 'auto-mode-alist '("\\.ts\\'" . shop-mode))

(defvar failures 0)
(defun check (name holds &optional detail)
  (unless holds (setq failures (1+ failures)))
  (princ (format "%s %s %s\n" (if holds "ok  " "FAIL") name (or detail ""))))
(defun wait-for (question)
  (let ((end (+ (float-time) 10)) answer)
    (while (and (not (setq answer (funcall question))) (< (float-time) end))
      (accept-process-output nil 0.05))
    answer))
(defun in-work (name) (expand-file-name name (getenv "INTENT_TEST_WORK")))

(find-file (in-work "src/auth/middleware.ts"))
(intent-ensure)
(unless (eglot-current-server) (intent-take-over))
(check "attaches" (eglot-current-server) (format "Emacs %s" emacs-version))

(goto-char (point-min))
(search-forward "async ver")
(let (said)
  (check "tells by eldoc which intent asked"
         (wait-for (lambda ()
                     (eglot-hover-eldoc-function (lambda (text &rest _) (setq said text)))
                     (accept-process-output nil 0.2)
                     (and said (string-match-p "INT-001" said) (string-match-p "exact" said))))
         (and said (car (split-string said "\n")))))

(find-file (in-work "src/billing/invoice.ts"))
(intent-take-over)
(flymake-mode 1)
(check "marks an edit out of scope"
       (wait-for (lambda () (flymake-start) (flymake-diagnostics)))
       (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) ", "))

(goto-char (point-min))
(search-forward "function t")
(let* ((actions (eglot-code-actions (line-beginning-position) (line-end-position) nil nil))
       (select (seq-find (lambda (it) (string-match-p "elect.*INT-002" (plist-get it :title))) actions)))
  (check "offers the intent that owns the file" select
         (format "%S" (mapcar (lambda (it) (plist-get it :title)) actions))))

(intent--ask "intent.select" (list :id "INT-002"))
(check "and once it is selected the error is gone"
       (wait-for (lambda () (flymake-start) (accept-process-output nil 0.2) (not (flymake-diagnostics)))))

(princ (format "%d failed\n" failures))
(ignore-errors (eglot-shutdown (eglot-current-server)))
(kill-emacs (if (zerop failures) 0 1))
