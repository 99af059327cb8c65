"""What is known about programs: which run others, which options reach further, what an "always" may store."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/")

KEYWORDS = _words("if then elif else fi for while until do done case esac in select function time coproc { } ! [[ ]]")
SHELLS = _words("sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh busybox toybox")
WRAPPERS = _words(
    "command builtin exec env nohup nice ionice timeout stdbuf setsid time xargs sudo doas su pkexec runuser chroot "
    "unshare nsenter parallel watch entr flock script strace ltrace gdb unbuffer caffeinate arch chrt taskset "
    "ssh-agent dbus-run-session systemd-run at batch"
)
EVALUATORS = _words("eval trap source . alias hash bind complete fc")
INTERPRETERS = _words(
    "python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php lua luajit Rscript osascript tclsh expect "
    "guile ghci irb ipython psql sqlite3 mysql"
)
# Editors, pagers and the like: each can run a command from its own options or text.
EDITORS = _words(
    "vi vim nvim view ex ed emacs emacsclient nano pico less more most info screen tmux awk gawk mawk nawk"
)
# Whose operands are commands, so that a denied name may stand further back.
RUNNERS = SHELLS | WRAPPERS | EVALUATORS | {"find", "fd", "git", "ssh"}
PAYLOAD_OPTIONS = _words("c e E p r i")

# Builtins that change what later commands mean: a rule must name them.
STATE_BUILTINS = _words(
    "export declare typeset local readonly set shopt enable unset unalias read mapfile readarray getopts let ulimit "
    "umask compgen pushd popd tee dd"
)
DESTRUCTIVE = _words("rm rmdir dd mkfs shred truncate kill pkill killall chmod chown mv crontab shutdown reboot")
# What they do depends on who is root, or on what they are fed.
NEVER_STORED = _words("sudo doas su pkexec xargs parallel entr at batch source . tee")
FREE_TARGETS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
FOLDER_CHANGERS = frozenset({"cd", "pushd", "popd"})

# Program: (long options, and single-dash words of find and go; letters of short options) that run, write or reach out.
RISKY_OPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "find": (
        ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"),
        "",
    ),
    "fd": (("--exec", "--exec-batch"), "xX"),
    "rg": (("--pre", "--hostname-bin"), ""),
    "sort": (("--output", "--compress-program", "--temporary-directory", "--files0-from"), "oT"),
    "tar": (
        (
            "--to-command",
            "--use-compress-program",
            "--checkpoint-action",
            "--rsh-command",
            "--rmt-command",
            "--info-script",
            "--new-volume-script",
        ),
        "IF",
    ),
    "man": (("--pager", "--html", "--config-file", "--troff"), "PHCtT"),
    "split": (("--filter",), ""),
    "ssh": ((), "oFEIJLRDwS"),
    "scp": ((), "oFSJ"),
    "sftp": ((), "oFSbJ"),
    "rsync": (
        ("--rsh", "--rsync-path", "--config", "--files-from", "--log-file", "--write-batch", "--read-batch"),
        "eM",
    ),
    "make": (("--eval", "--file", "--makefile", "--include-dir", "--environment-overrides"), "fIeE"),
    "go": (("-exec", "-toolexec", "-o", "-ldflags", "-gcflags", "-overlay", "-vettool", "-modfile"), ""),
    "npm": (("--script-shell", "--node-options", "--prefix", "--globalconfig", "--userconfig", "--shell"), ""),
    "pnpm": (("--script-shell", "--node-options", "--dir", "--shell"), ""),
    "yarn": (("--script-shell", "--node-options", "--cwd"), ""),
    "pytest": (
        ("--rootdir", "--basetemp", "--pdbcls", "--junitxml", "--confcutdir", "--override-ini", "--config-file"),
        "pco",
    ),
    "cargo": (("--config", "--manifest-path"), "Z"),
    "compgen": ((), "CF"),
    "mapfile": ((), "Cc"),
    "printf": ((), "v"),
    "test": ((), "vR"),
    "[": ((), "vR"),
    "date": (("--set",), "s"),
    "wc": (("--files0-from",), ""),
    "du": (("--files0-from",), ""),
    "file": (("--files-from", "--magic-file", "--compile", "--uncompress"), "fmCz"),
    "tree": (("--fromfile",), "o"),
    "yq": (("--inplace", "--split-exp"), "is"),
    "hostname": ((), "F"),
    "curl": (("--output", "--remote-name", "--config", "--upload-file", "--output-dir", "--dump-header"), "oOKTD"),
    "wget": (("--output-document", "--output-file", "--execute", "--use-askpass", "--post-file"), "oOei"),
}
GIT_OPTIONS = (
    "--output",
    "--output-directory",
    "--ext-diff",
    "--textconv",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--open-files-in-pager",
    "--config",
    "--extcmd",
    "--template",
    "--separate-git-dir",
    "--no-index",
    "--unsafe-paths",
)
GIT_LETTERS = {
    "grep": "O",
    "rebase": "x",
    "clone": "cu",
    "format-patch": "o",
    "ls-remote": "o",
    "fetch": "o",
    "pull": "o",
}
GIT_RISKY = _words(
    "config filter-branch bisect submodule hook difftool mergetool instaweb daemon credential send-email archive am "
    "fast-import upload-pack receive-pack shell http-backend remote-ext update-index worktree"
)
GIT_HARMLESS_GLOBALS = frozenset({"--no-pager", "--literal-pathspecs", "--no-optional-locks", "--no-replace-objects"})
GIT_GLOBALS_WITH_VALUE = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"}
)

READERS = _words(
    "cat head tail ls grep rg wc find diff stat file test [ echo printf sort uniq cut tr du tree pwd true false sed "
    "basename dirname realpath readlink cmp nl od xxd sha256sum md5sum"
)

# How many words of a known program name the deed: what an "always" stores before ` *`.
PREFIX_WORDS: dict[str, int] = {
    **dict.fromkeys(
        _words(
            "ls cat head tail wc grep rg find fd pwd which tree stat file du df diff cmp sort uniq cut tr echo printf "
            "true false test basename dirname realpath date whoami uname pytest ruff mypy pyright "
            "basedpyright black isort eslint prettier tsc jest vitest mocha touch mkdir jq yq shellcheck ctest tox nox"
        ),
        1,
    ),
    **dict.fromkeys(
        _words(
            "git npm pnpm yarn cargo go uv pip pip3 poetry pdm hatch docker podman kubectl helm terraform make just "
            "gradle mvn dotnet rustup brew apt composer bundle rake mix swift bazel cmake poe"
        ),
        2,
    ),
    **dict.fromkeys(
        (
            "npm run",
            "pnpm run",
            "yarn run",
            "uv run",
            "poetry run",
            "pdm run",
            "git remote",
            "git stash",
            "git config",
            "git worktree",
            "git submodule",
            "docker compose",
            "docker container",
            "docker image",
            "go mod",
            "uv pip",
            "cargo make",
            "gh",
            "aws",
            "gcloud",
            "az",
            "bundle exec",
        ),
        3,
    ),
}
# Two-word prefixes behind which stands a program that runs what follows.
RUN_PREFIXES = frozenset(
    {"bundle exec", "cargo run", "deno run", "docker compose", "docker exec", "docker run", "gh api", "go run"}
    | {"kubectl exec", "npm exec", "pdm run", "pnpm dlx", "pnpm exec", "podman exec", "podman run", "poetry run"}
    | {"swift run", "uv run", "uv tool", "yarn dlx", "yarn exec"}
)
# Two-word prefixes that take away or give out what cannot be taken back.
FINAL_PREFIXES = frozenset(
    {"apt install", "brew uninstall", "cargo publish", "docker rm", "docker rmi", "docker system", "docker push"}
    | {"git checkout", "git clean", "git push", "git rebase", "git reset", "git restore", "git rm", "git switch"}
    | {"helm uninstall", "kubectl apply", "kubectl delete", "npm publish", "npm unpublish", "pip uninstall"}
    | {"pnpm publish", "poetry publish", "terraform apply", "terraform destroy", "uv publish", "yarn publish"}
)
