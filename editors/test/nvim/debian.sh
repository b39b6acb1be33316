# debian.sh: to be sourced. Unpacks packages of a Debian release beside the system; installs nothing.

# unpack_debian RELEASE DEST PACKAGE[=VERSION]…: into DEST/unpacked, from the mirror that this system's apt uses.
# apt's own state stays as it is: lists and packages are kept below DEST while this runs.
unpack_debian() {
    local release=$1 dest=$2 apt="$2/apt" mirror options package
    shift 2
    mirror=$(mirror_of_apt) || { echo "no Debian mirror is named in /etc/apt" >&2; return 1; }
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$dest/unpacked"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" > "$apt/sources.list"
    options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
        -o Acquire::Languages=none -o Acquire::Retries=2)
    apt-get "${options[@]}" update >&2
    (cd "$apt/debs" && apt-get "${options[@]}" download "$@" >&2)
    for package in "$apt"/debs/*.deb; do
        dpkg -x "$package" "$dest/unpacked"
    done
    rm -rf "$apt"
}

mirror_of_apt() {
    local found
    found=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '/^URIs:/ { print $2; exit }')
    [[ -n "$found" ]] || found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null \
        | sed 's/\[[^]]*\]//' | awk '$1 == "deb" { print $2; exit }')
    [[ -n "$found" ]] && echo "$found"
}
