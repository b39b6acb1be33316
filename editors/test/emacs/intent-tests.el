;;; intent-tests.el --- Tests of parts of the package  -*- lexical-binding: t; -*-

(require 'ert)
(require 'intent)

(defun intent-tests--work (name)
  "The file NAME of the governed workspace."
  (expand-file-name name (getenv "WORK")))

(defconst intent-tests--block
  '(:kind "method" :name "verify" :qualified_name "AuthMiddleware.verify" :start_line 6 :end_line 10
    :verdict "modified" :newer 2 :tool "claude-code" :timestamp "2020-01-02T03:04:05.678Z"
    :contributor (:entity_type "AI" :model_identifier "example/model-1")
    :intent (:id "INT-001" :name "JWT Authentication Migration" :status "IN_PROGRESS")))

(ert-deftest intent-template ()
  (should (equal (substring-no-properties
                  (intent-provenance-format intent-tests--block "${intent} ${name} · ${who} · ${verdict}"))
                 "INT-001 JWT Authentication Migration · claude-code · modified, 2 lines since"))
  (should (equal (intent-provenance-format intent-tests--block "[${model}] ${date} ${block}")
                 "[example/model-1] 2020-01-02 AuthMiddleware.verify")))

(ert-deftest intent-template-leaves-out-what-says-nothing ()
  (let ((block '(:verdict "exact" :intent (:id "INT-009"))))
    (should (equal (substring-no-properties
                    (intent-provenance-format block "${intent} ${name} · ${who} · ${when} · ${verdict}"))
                   "INT-009 · exact"))))

(ert-deftest intent-template-says-an-unknown-token-once ()
  (let ((intent-provenance--complained nil) (said nil))
    (cl-letf (((symbol-function 'message) (lambda (&rest words) (push (apply #'format words) said))))
      (intent-provenance-format intent-tests--block "${intent} ${nonsense}")
      (intent-provenance-format intent-tests--block "${intent} ${nonsense}"))
    (should (equal (length said) 1))
    (should (string-match-p "nonsense" (car said)))))

(ert-deftest intent-who-is-never-guessed ()
  (should (equal (intent-provenance--who '(:contributor (:entity_type "HUMAN"))) "a person"))
  (should (equal (intent-provenance--who '(:contributor (:entity_type "HUMAN" :name "Ada"))) "Ada"))
  (should (equal (intent-provenance--who '(:tool "intent" :contributor (:entity_type "AI"))) "AI"))
  (should (equal (intent-provenance--who '(:contributor (:entity_type "UNKNOWN"))) "unknown author"))
  (should (equal (intent-provenance--verdict '(:verdict "modified" :accepted (:record "r"))) "accepted"))
  (should-not (intent-provenance--who nil)))

(ert-deftest intent-names-cannot-hide-anything ()
  (should (equal (intent--plain "a\u202eb\nc") "aU+202EbU+000Ac")))

(ert-deftest intent-lines-beside-a-blame ()
  (let ((said (lambda (short)
                (with-temp-buffer
                  (puthash 1 short (intent-line--known))
                  (setq-local blamer-mode t)
                  (intent-line--text 1)))))
    (should (equal (funcall said "INT-006 · claude-code, 2 days") "INT-006 · claude-code, 2 days"))
    (dolist (short '("git says: Ada, 2 days" "claimed by git-ai: codex · git says: Ada, 2 days"
                     "not committed yet" "history is missing here"))
      (should (equal (funcall said short) "")))))

(ert-deftest intent-words-of-the-mode-line ()
  (should (equal (intent--words '(:selection "INT-001" :errors 0 :waiting 0)) "INT-001"))
  (should (equal (intent--words '(:selection nil :errors 2 :waiting 1 :off (:until "x"))) "no intent off !2 ?1")))

(ert-deftest intent-program-is-never-one-of-the-workspace ()
  (let* ((root (file-truename (make-temp-file "work" t)))
         (bin (expand-file-name "bin" root))
         (elsewhere (file-truename (make-temp-file "bin" t)))
         (make (lambda (folder)
                 (let ((file (expand-file-name "intent" folder)))
                   (with-temp-file file (insert "#!/bin/sh\n"))
                   (set-file-modes file #o755)
                   file))))
    (unwind-protect
        (progn
          (make-directory bin)
          (funcall make bin)
          (let ((exec-path (list bin "bin" "." elsewhere)) (default-directory (file-name-as-directory root)))
            (should-not (intent--find-program root))
            ;; A link that leads into it is no better.
            (make-symbolic-link (expand-file-name "intent" bin) (expand-file-name "intent" elsewhere))
            (should-not (intent--find-program root))
            (delete-file (expand-file-name "intent" elsewhere))
            (funcall make elsewhere)
            (should (equal (intent--find-program root) (expand-file-name "intent" elsewhere))))
          (with-temp-buffer
            ;; What a file or folder sets does not count.
            (setq-local intent-program (expand-file-name "intent" bin))
            (let ((exec-path (list elsewhere)))
              (should (equal (intent--find-program root) (expand-file-name "intent" elsewhere)))))
          (let ((intent-program "bin/intent"))
            (should-not (intent--find-program root))))
      (delete-directory root t)
      (delete-directory elsewhere t))))

(ert-deftest intent-does-nothing-where-no-intents-are ()
  (let* ((folder (file-truename (make-temp-file "plain" t)))
         (file (expand-file-name "code.el" folder))
         (before (process-list)))
    (unwind-protect
        (progn
          (with-temp-file file (insert "(defun nothing ())\n"))
          (global-intent-mode 1)
          (with-current-buffer (find-file-noselect file)
            (run-hooks 'post-command-hook)
            (should-not intent-mode)
            (intent-mode 1)
            (should-not intent-mode)
            (should-not (eglot-managed-p))
            (should-not (memq 'intent-provenance--changed after-change-functions))
            (should (equal (process-list) before))
            (should-error (intent-take-over) :type 'user-error)
            (kill-buffer))
          (should (equal (directory-files folder nil "\\`[^.]") '("code.el")))
          (should-not (file-exists-p (expand-file-name ".orchestration" folder))))
      (global-intent-mode -1)
      (delete-directory folder t))))

(ert-deftest intent-leaves-a-server-that-is-there-alone ()
  (let ((eglot-server-programs '((prog-mode . ("sh" "-c" "true")))))
    (with-current-buffer (find-file-noselect (intent-tests--work "src/auth/middleware.ts"))
      (prog-mode)
      (should (intent--others-program))
      (setq eglot-server-programs '((prog-mode . ("no-such-language-server"))))
      (should-not (intent--others-program))
      (kill-buffer))))

(ert-deftest intent-an-empty-answer-decides-nothing ()
  (let ((server (make-instance 'intent-server :name "test" :process (lambda () (make-pipe-process :name "t" :noquery t)))))
    (unwind-protect
        (cl-flet ((answer (said)
                    (cl-letf (((symbol-function 'completing-read)
                               (lambda (_prompt _titles _p _match _i _h default) (or said default))))
                      (eglot-handle-request server 'window/showMessageRequest :message "May I?"
                                            :actions [(:title "Approve") (:title "Reject")]))))
          (should-not (answer nil))
          (should (equal (answer "Approve") '(:title "Approve")))
          (should (equal (answer "Reject") '(:title "Reject"))))
      (delete-process (jsonrpc--process server)))))

(ert-deftest intent-positions-in-each-encoding ()
  (let ((server (make-instance 'intent-server :name "test"
                               :process (lambda () (make-pipe-process :name "t" :noquery t)))))
    (unwind-protect
        (let ((intent-beside--speaker server))
          (pcase-dolist (`(,encoding . ,units) '(("utf-16" . 4) (nil . 4) ("utf-32" . 3) ("utf-8" . 7)))
            (setf (eglot--capabilities server) (list :positionEncoding encoding))
            (with-temp-buffer
              (insert "first\né😀bc\n")
              (goto-char (point-min))
              (search-forward "b")
              (should (equal (intent-beside--position (point)) (list :line 1 :character units)))
              (should (equal (intent-beside--point (list :line 1 :character units)) (point)))
              ;; Past the end of a line is its end.
              (should (equal (intent-beside--point '(:line 1 :character 99)) (line-end-position))))))
      (delete-process (jsonrpc--process server)))))

(ert-deftest intent-several-edits-of-one-buffer ()
  (let ((server (make-instance 'intent-server :name "test"
                               :process (lambda () (make-pipe-process :name "t" :noquery t)))))
    (unwind-protect
        (let ((intent-beside--speaker server))
          (setf (eglot--capabilities server) '(:positionEncoding "utf-32"))
          (with-temp-buffer
            (insert "one two three\n")
            (intent-beside--edit-buffer
             '((:range (:start (:line 0 :character 0) :end (:line 0 :character 3)) :newText "a longer 1")
               (:range (:start (:line 0 :character 8) :end (:line 0 :character 13)) :newText "3")))
            (should (equal (buffer-string) "a longer 1 two 3\n"))))
      (delete-process (jsonrpc--process server)))))

(provide 'intent-tests)
;;; intent-tests.el ends here
