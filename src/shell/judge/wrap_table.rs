//! Programs that start another one, as data.

/// How the words that are left become a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// They are the program and its arguments.
    Words,
    /// Joined with blanks they are code in the language of a shell.
    Joined,
    /// Each of them is code.
    Each,
    /// None of them is; only options hold code.
    Options,
}

/// A program that starts another one.
pub(super) struct Wrap {
    pub(super) name: &'static str,
    /// Words that must follow first, alternatives by `|`: `compose exec|run`.
    pub(super) sub: &'static str,
    /// Options that take the next word.
    pub(super) takes: &'static [&'static str],
    /// Options whose value is code.
    pub(super) code: &'static [&'static str],
    /// So many operands come before the command.
    pub(super) operands: usize,
    /// The command comes after a `--`.
    pub(super) dashes: bool,
    pub(super) how: How,
    /// The command runs on another machine or in a container.
    pub(super) elsewhere: bool,
    /// A command line with `{}` for the command and `{q}` for the command as one quoted word.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests wrap commands by it"))]
    pub(super) example: &'static str,
}

impl Wrap {
    const fn takes(mut self, takes: &'static [&'static str]) -> Self {
        self.takes = takes;
        self
    }

    const fn code(mut self, code: &'static [&'static str]) -> Self {
        self.code = code;
        self
    }

    const fn sub(mut self, sub: &'static str) -> Self {
        self.sub = sub;
        self
    }

    const fn after(mut self, operands: usize) -> Self {
        self.operands = operands;
        self
    }

    const fn how(mut self, how: How) -> Self {
        self.how = how;
        self
    }

    const fn dashes(mut self) -> Self {
        self.dashes = true;
        self
    }

    const fn elsewhere(mut self) -> Self {
        self.elsewhere = true;
        self
    }
}

const fn w(name: &'static str, example: &'static str) -> Wrap {
    Wrap {
        name,
        sub: "",
        takes: &[],
        code: &[],
        operands: 0,
        dashes: false,
        how: How::Words,
        elsewhere: false,
        example,
    }
}

const SUDO: &[&str] = &[
    "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t", "--user", "--group",
    "--host", "--chdir", "--prompt",
];
const RUN: &[&str] = &[
    "-v",
    "-e",
    "-p",
    "-w",
    "-u",
    "-h",
    "-l",
    "-m",
    "-a",
    "-c",
    "--name",
    "--network",
    "--net",
    "--volume",
    "--env",
    "--env-file",
    "--publish",
    "--workdir",
    "--user",
    "--hostname",
    "--label",
    "--memory",
    "--cpus",
    "--mount",
    "--entrypoint",
    "--platform",
    "--gpus",
    "--restart",
    "--add-host",
    "--cap-add",
    "--cap-drop",
    "--device",
    "--dns",
    "--ip",
    "--link",
    "--log-driver",
    "--pid",
    "--security-opt",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "--volumes-from",
    "--index",
    "-f",
    "--file",
    "--project-name",
    "--profile",
    "--context",
    "--host",
    "-H",
];
const SSH: &[&str] = &[
    "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-W", "-b", "-c", "-e", "-m", "-w", "-E",
    "-I", "-S", "-B", "-O", "-Q",
];
const KUBE: &[&str] =
    &["-n", "--namespace", "-c", "--container", "--context", "--kubeconfig", "--cluster"];
const TMUX: &[&str] =
    &["-t", "-s", "-n", "-c", "-x", "-y", "-F", "-L", "-S", "-f", "-e", "-l", "-p", "-N"];

pub(super) const WRAPS: &[Wrap] = &[
    w("sudo", "sudo -u root {}").takes(SUDO),
    w("doas", "doas -u root {}").takes(&["-u", "-C"]),
    w("pkexec", "pkexec --user root {}").takes(&["--user"]),
    w("su", "su - root -c {q}").takes(&["-s", "-g", "-G", "-w"]).code(&["-c", "--command"]).how(How::Options),
    w("runuser", "runuser -u root -- {}").takes(&["-u", "-g", "-G", "-s"]).code(&["-c", "--command"]),
    w("sg", "sg docker -c {q}").code(&["-c"]).how(How::Options),
    w("gosu", "gosu root {}").after(1),
    w("su-exec", "su-exec root {}").after(1),
    w("env", "env -u X A=1 {}").takes(&["-u", "--unset", "-C", "--chdir"]).code(&["-S", "--split-string"]),
    w("command", "command {}"),
    w("builtin", "builtin {}"),
    w("exec", "exec -a x {}").takes(&["-a"]),
    w("noglob", "noglob {}"),
    w("nocorrect", "nocorrect {}"),
    w("nohup", "nohup {}"),
    w("nice", "nice -n 5 {}").takes(&["-n", "--adjustment"]),
    w("gnice", "gnice -n 5 {}").takes(&["-n"]),
    w("time", "time -p {}").takes(&["-f", "-o", "--format", "--output"]),
    w("gtime", "gtime -v {}").takes(&["-f", "-o"]),
    w("timeout", "timeout -k 5 10 {}").takes(&["-k", "-s", "--kill-after", "--signal"]).after(1),
    w("gtimeout", "gtimeout 10 {}").takes(&["-k", "-s"]).after(1),
    w("stdbuf", "stdbuf -oL {}").takes(&["-i", "-o", "-e"]),
    w("unbuffer", "unbuffer {}"),
    w("setsid", "setsid -w {}"),
    w("ionice", "ionice -c 3 {}").takes(&["-c", "-n", "--class", "--classdata"]),
    w("chrt", "chrt -b 0 {}").after(1),
    w("taskset", "taskset 1 {}").after(1),
    w("numactl", "numactl -N 0 {}").takes(&["-N", "-m", "-C"]),
    w("prlimit", "prlimit --cpu=1 {}"),
    w("cpulimit", "cpulimit -l 50 -- {}").takes(&["-l", "-e", "-p"]),
    w("flock", "flock -n /tmp/lock {}").takes(&["-w", "-E", "--timeout"]).code(&["-c", "--command"]).after(1),
    w("watch", "watch -n 1 {}").takes(&["-n", "--interval"]).how(How::Joined),
    w("caffeinate", "caffeinate -i {}").takes(&["-t", "-w"]),
    w("arch", "arch -x86_64 {}"),
    w("setarch", "setarch x86_64 {}").after(1),
    w("linux32", "linux32 {}"),
    w("linux64", "linux64 {}"),
    w("fakeroot", "fakeroot {}"),
    w("chroot", "chroot /mnt {}").takes(&["-u"]).after(1).elsewhere(),
    w("unshare", "unshare -r {}").takes(&["-S", "-G"]),
    w("nsenter", "nsenter -t 1 -m {}").takes(&["-t", "--target", "-S", "-G"]),
    w("systemd-run", "systemd-run --user {}").takes(&["-p", "-u", "--unit", "--property"]),
    w("systemd-inhibit", "systemd-inhibit {}"),
    w("strace", "strace -f -o /tmp/x {}").takes(&["-o", "-e", "-p", "-s", "-u", "-E"]),
    w("ltrace", "ltrace {}").takes(&["-o", "-e", "-p", "-s", "-u"]),
    w("valgrind", "valgrind -q {}"),
    w("perf", "perf stat -e x {}").sub("stat|record|trace").takes(&["-e", "-o", "-F", "-r"]),
    w("faketime", "faketime yesterday {}").takes(&["-f"]).after(1),
    w("xvfb-run", "xvfb-run -a {}").takes(&["-s", "-n", "-e", "-f", "-p", "-w"]),
    w("dbus-run-session", "dbus-run-session {}"),
    w("proxychains", "proxychains -q {}").takes(&["-f"]),
    w("proxychains4", "proxychains4 {}").takes(&["-f"]),
    w("torsocks", "torsocks {}"),
    w("rlwrap", "rlwrap {}"),
    w("winpty", "winpty {}"),
    w("dumb-init", "dumb-init {}"),
    w("tini", "tini -- {}"),
    w("catchsegv", "catchsegv {}"),
    w("busybox", "busybox {}"),
    w("toybox", "toybox {}"),
    w("ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2 {}").takes(&["--library-path", "--preload"]),
    w("script", "script -q -c {q} /dev/null").takes(&["-T", "-m", "-E", "-o", "-O", "-I", "-B"]).code(&["-c", "--command"]).after(1),
    w("tmux", "tmux new-session -d {q}").sub("new-session|new|new-window|neww|split-window|splitw|run-shell|run|send-keys|send|respawn-pane|respawnp|respawn-window|if-shell|popup|display-popup").takes(TMUX).how(How::Joined),
    w("screen", "screen -dmS x {}").takes(&["-S", "-c", "-p", "-t", "-h", "-s", "-T", "-L"]),
    w("dtach", "dtach -n /tmp/s {}").after(1),
    w("abduco", "abduco -n s {}").after(1),
    w("expect-lite", "expect-lite -c {q}").code(&["-c"]).how(How::Options),
    w("entr", "entr -r {}"),
    w("watchexec", "watchexec -w src -- {}").takes(&["-w", "-e", "-i", "-f"]).how(How::Joined),
    w("nodemon", "nodemon --exec {q}").takes(&["-w", "--watch", "-e", "--ext"]).code(&["-x", "--exec"]).how(How::Options),
    w("concurrently", "concurrently {q}").takes(&["-n", "-c", "--names"]).how(How::Each),
    w("hyperfine", "hyperfine {q}").takes(&["-w", "-r", "-n", "--warmup", "--runs", "--export-json", "--export-markdown", "-m", "-M"]).code(&["-p", "--prepare", "-s", "--setup", "-c", "--cleanup"]).how(How::Each),
    w("cargo", "cargo watch -s {q}").sub("watch").takes(&["-x", "-w", "-i", "-d"]).code(&["-s", "--shell"]),
    w("cross-env", "cross-env A=1 {}"),
    w("env-cmd", "env-cmd -f .env {}").takes(&["-f", "-e"]),
    w("dotenv", "dotenv -e .env -- {}").takes(&["-e", "-f", "-c"]),
    w("dotenvx", "dotenvx run -- {}").sub("run").takes(&["-f"]),
    w("op", "op run -- {}").sub("run").dashes(),
    w("doppler", "doppler run -- {}").sub("run").dashes(),
    w("infisical", "infisical run -- {}").sub("run").dashes(),
    w("aws-vault", "aws-vault exec p -- {}").sub("exec").dashes(),
    w("chamber", "chamber exec p -- {}").sub("exec").dashes(),
    w("npx", "npx -y {}").takes(&["-p", "--package", "-w"]).code(&["-c", "--call"]),
    w("bunx", "bunx {}"),
    w("pnpx", "pnpx {}"),
    w("uvx", "uvx {}").takes(&["--from", "--with", "-p"]),
    w("pipx", "pipx run {}").sub("run"),
    w("npm", "npm exec -- {}").sub("exec|x").takes(&["-p", "--package", "-w"]).code(&["-c", "--call"]),
    w("pnpm", "pnpm exec {}").sub("exec|dlx").takes(&["-C", "--filter", "-F"]),
    w("yarn", "yarn exec {}").sub("exec|dlx"),
    w("bun", "bun x {}").sub("x"),
    w("uv", "uv run {}").sub("run").takes(&["-p", "--python", "--with", "--group", "--extra", "--env-file", "--project", "--directory"]),
    w("poetry", "poetry run {}").sub("run").takes(&["-C"]),
    w("pipenv", "pipenv run {}").sub("run"),
    w("pdm", "pdm run {}").sub("run").takes(&["-p"]),
    w("rye", "rye run {}").sub("run"),
    w("hatch", "hatch run {}").sub("run").takes(&["-e"]),
    w("pixi", "pixi run {}").sub("run").takes(&["-e"]),
    w("conda", "conda run -n e {}").sub("run").takes(&["-n", "-p", "--name", "--prefix", "--cwd"]),
    w("mamba", "mamba run -n e {}").sub("run").takes(&["-n", "-p"]),
    w("micromamba", "micromamba run -n e {}").sub("run").takes(&["-n", "-p"]),
    w("bundle", "bundle exec {}").sub("exec"),
    w("mise", "mise exec node@20 -- {}").sub("exec|x").dashes().code(&["-c", "--command"]),
    w("asdf", "asdf exec {}").sub("exec"),
    w("rtx", "rtx exec -- {}").sub("exec|x").dashes(),
    w("volta", "volta run {}").sub("run").takes(&["--node", "--npm"]),
    w("fnm", "fnm exec --using 20 {}").sub("exec").takes(&["--using"]),
    w("rustup", "rustup run stable {}").sub("run").after(1),
    w("rbenv", "rbenv exec {}").sub("exec"),
    w("pyenv", "pyenv exec {}").sub("exec"),
    w("direnv", "direnv exec . {}").sub("exec").after(1),
    w("nix-shell", "nix-shell -p x --run {q}").takes(&["-p", "-I", "-A"]).code(&["--run", "--command"]).how(How::Options),
    w("nix", "nix develop -c {}").sub("develop|shell").code(&["--run"]),
    w("nix", "nix run nixpkgs#x -- {}").sub("run"),
    w("devbox", "devbox run -- {}").sub("run"),
    w("guix", "guix shell x -- {}").sub("shell|environment").dashes(),
    w("ssh", "ssh -p 22 user@host {}").takes(SSH).after(1).how(How::Joined).elsewhere(),
    w("mosh", "mosh user@host -- {}").after(1).elsewhere(),
    w("sshpass", "sshpass -p x {}").takes(&["-p", "-f"]),
    w("docker", "docker exec -it c {}").sub("exec").takes(RUN).after(1).elsewhere(),
    w("docker", "docker run --rm -v /:/host image {}").sub("run").takes(RUN).after(1).elsewhere(),
    w("docker", "docker container exec c {}").sub("container exec|run").takes(RUN).after(1).elsewhere(),
    w("docker", "docker compose exec web {}").sub("compose exec|run").takes(RUN).after(1).elsewhere(),
    w("docker-compose", "docker-compose run web {}").sub("exec|run").takes(RUN).after(1).elsewhere(),
    w("podman", "podman exec c {}").sub("exec|run").takes(RUN).after(1).elsewhere(),
    w("nerdctl", "nerdctl exec c {}").sub("exec|run").takes(RUN).after(1).elsewhere(),
    w("kubectl", "kubectl exec -n x pod -- {}").sub("exec|run|debug").takes(KUBE).dashes().elsewhere(),
    w("oc", "oc exec pod -- {}").sub("exec|rsh").takes(KUBE).dashes().elsewhere(),
    w("lxc", "lxc exec c -- {}").sub("exec").dashes().elsewhere(),
    w("incus", "incus exec c -- {}").sub("exec").dashes().elsewhere(),
    w("multipass", "multipass exec vm -- {}").sub("exec").dashes().elsewhere(),
    w("limactl", "limactl shell vm {}").sub("shell").after(1).elsewhere(),
    w("lima", "lima {}").elsewhere(),
    w("colima", "colima ssh -- {}").sub("ssh").dashes().elsewhere(),
    w("distrobox", "distrobox enter x -- {}").sub("enter").dashes(),
    w("toolbox", "toolbox run -c x {}").sub("run").takes(&["-c", "--container"]),
    w("flatpak-spawn", "flatpak-spawn --host {}"),
    w("vagrant", "vagrant ssh -c {q}").sub("ssh").code(&["-c", "--command"]).how(How::Options).elsewhere(),
    w("adb", "adb -s x shell {}").sub("shell").takes(&["-s"]).how(How::Joined).elsewhere(),
    w("wsl", "wsl -d Ubuntu {}").takes(&["-d", "-u", "--cd"]),
    w("heroku", "heroku run -a app {q}").sub("run").takes(&["-a", "--app"]).how(How::Joined).elsewhere(),
    w("fly", "fly ssh console -C {q}").sub("ssh console").code(&["-C"]).how(How::Options).elsewhere(),
    w("gcloud", "gcloud compute ssh vm --command {q}").sub("compute ssh").code(&["--command"]).how(How::Options).elsewhere(),
    w("ansible", "ansible all -m shell -a {q}").code(&["-a", "--args"]).how(How::Options).elsewhere(),
    w("lerna", "lerna exec -- {}").sub("exec").dashes(),
    w("zip", "zip x.zip y -T -TT {q}").code(&["-TT", "--unzip-command"]).how(How::Options),
    w("man", "man -P {q} ls").code(&["-P", "--pager"]).how(How::Options),
    w("parallel", "parallel {} ::: 1"),
    w("xargs", "xargs -n 1 {}"),
];
