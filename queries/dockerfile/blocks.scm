; Each instruction is a block: `from build`, `run apt-get update`, `env PORT`.
; The text of an instruction is not a name that it keeps, so a changed `run` is another block.
(from_instruction as: (image_alias) @name) @definition.statement @name.kind
(from_instruction (image_spec) @name.object) @definition.statement @name.kind
(arg_instruction (arg_pair name: (_) @name)) @definition.statement @name.kind
(env_instruction (env_pair name: (_) @name)) @definition.statement @name.kind
(label_instruction (label_pair key: (_) @name)) @definition.statement @name.kind
(run_instruction (shell_command) @name.object) @definition.statement @name.kind
(run_instruction) @definition.statement @name.kind
(copy_instruction (path) @name.object) @definition.statement @name.kind
(copy_instruction) @definition.statement @name.kind
(add_instruction (path) @name.object) @definition.statement @name.kind
(add_instruction) @definition.statement @name.kind
(workdir_instruction (path) @name.object) @definition.statement @name.kind
(expose_instruction (expose_port) @name.object) @definition.statement @name.kind
(volume_instruction (path) @name.object) @definition.statement @name.kind
(volume_instruction) @definition.statement @name.kind
(user_instruction) @definition.statement @name.kind
(cmd_instruction) @definition.statement @name.kind
(entrypoint_instruction) @definition.statement @name.kind
(healthcheck_instruction) @definition.statement @name.kind
(shell_instruction) @definition.statement @name.kind
(stopsignal_instruction) @definition.statement @name.kind
(onbuild_instruction) @definition.statement @name.kind
