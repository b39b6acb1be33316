;;; init.el --- The Emacs of a test: as somebody would set it up  -*- lexical-binding: t; -*-

;; EMACS_PACKAGE is the folder of the package, GRAMMARS that of tree-sitter's grammars, if any.

(setq inhibit-startup-screen t
      make-backup-files nil
      create-lockfiles nil
      auto-save-default nil
      ;; Compiling in the background would take the machine from the test.
      native-comp-deferred-compilation nil
      native-comp-jit-compilation nil
      native-comp-enable-subr-trampolines nil
      ;; One reading of "yes" for all questions about files.
      use-short-answers t
      suggest-key-bindings nil)
(when (fboundp 'menu-bar-mode) (menu-bar-mode -1))
(load-theme 'modus-vivendi t)
;; A straight line: not every terminal knows waves.
(with-eval-after-load 'flymake
  (set-face-attribute 'flymake-error nil :underline t))
(column-number-mode -1)
(line-number-mode 1)

;; What somebody who edits TypeScript has.  Emacs 28 has no mode of its own for it.
(let ((grammars (getenv "GRAMMARS")))
  (if (and grammars (file-directory-p grammars) (fboundp 'treesit-available-p) (treesit-available-p))
      (progn
        (setq treesit-extra-load-path (list grammars))
        (add-to-list 'auto-mode-alist '("\\.ts\\'" . typescript-ts-mode)))
    (define-derived-mode typescript-mode js-mode "TypeScript")
    (put 'typescript-mode 'eglot-language-id "typescript")
    (add-to-list 'auto-mode-alist '("\\.ts\\'" . typescript-mode))))

;; No browser sits here: what it would be shown is shown in the echo area.
(setq browse-url-browser-function (lambda (page &rest _) (message "browse %s" page)))

;; What README.md says.
(add-to-list 'load-path (getenv "EMACS_PACKAGE"))
(require 'intent)
(global-intent-mode)
(define-key intent-mode-map (kbd "C-c i") intent-command-map)

(provide 'init)
;;; init.el ends here
