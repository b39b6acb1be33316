;;; batch.el --- What needs no screen  -*- lexical-binding: t; -*-

;; Run by drive.  EMACS_PACKAGE is the package's folder, WORK a governed workspace.  One line for each check.

(setq native-comp-deferred-compilation nil
      native-comp-jit-compilation nil
      native-comp-enable-subr-trampolines nil)
(require 'ert)
(require 'bytecomp)
(require 'checkdoc)
(require 'cl-lib)

(defvar failures 0)
(defun report (key holds detail)
  "Print whether the check KEY HOLDS, with a DETAIL."
  (unless holds (setq failures (1+ failures)))
  (princ (format "%s %s %s\n" (if holds "ok" "FAIL") key
                 (replace-regexp-in-string "[ \n\t]+" " " detail))))

(defconst sources
  (mapcar (lambda (name) (expand-file-name name (getenv "EMACS_PACKAGE")))
          '("intent-client.el" "intent-beside.el" "intent-line.el" "intent-provenance.el"
            "intent-why.el" "intent-list.el" "intent.el")))

;; Compiled beside copies, so that the package's folder stays as it is.
(let* ((folder (make-temp-file "compile-" t))
       (byte-compile-dest-file-function
        (lambda (file) (expand-file-name (concat (file-name-nondirectory file) "c") folder)))
       (compiled (mapcar #'byte-compile-file sources))
       (log (if (get-buffer byte-compile-log-buffer)
                (with-current-buffer byte-compile-log-buffer (buffer-string))
              ""))
       (said (seq-filter (lambda (line) (string-match-p "Warning\\|Error" line)) (split-string log "\n"))))
  (report "byte-compile" (and (not said) (not (memq nil compiled)))
          (if said (mapconcat #'identity said " | ")
            (format "%d files without a warning on %s" (length sources) emacs-version)))
  (delete-directory folder t))

(let (said)
  (cl-letf (((symbol-function 'checkdoc-error)
             (lambda (point message)
               (push (format "%s:%s: %s" (file-name-nondirectory (or buffer-file-name "?"))
                             (and point (line-number-at-pos point)) message)
                     said)
               nil))
            ((symbol-function 'checkdoc-create-error)
             (lambda (text start end &optional _)
               (push (format "%s:%s: %s" (file-name-nondirectory (or buffer-file-name "?"))
                             (and start (line-number-at-pos start)) text)
                     said)
               (ignore end)
               nil)))
    (dolist (file sources)
      (with-current-buffer (find-file-noselect file)
        (let ((checkdoc-autofix-flag 'never) (checkdoc-spellcheck-documentation-flag nil))
          (checkdoc-current-buffer t))
        ;; The tests must not find it open.
        (kill-buffer))))
  (report "checkdoc" (not said) (if said (mapconcat #'identity said " | ") "nothing to say")))

(require 'intent)
(load (expand-file-name "intent-tests.el" (file-name-directory load-file-name)) nil t)

(let* ((stats (ert-run-tests-batch t))
       (bad (ert-stats-completed-unexpected stats)))
  (report "ert" (and (zerop bad) (< 0 (ert-stats-total stats)))
          (format "%d tests, %d failed" (ert-stats-total stats) bad))
  (report "ungoverned" (ert-test-passed-p (ert-test-most-recent-result
                                           (ert-get-test 'intent-does-nothing-where-no-intents-are)))
          "in a folder without intents no mode, no process, no file"))

(kill-emacs (if (zerop failures) 0 1))
;;; batch.el ends here
