#!/bin/sh
# Makes test hosts of a bare Debian tree, inside it: users with their shells, sshd, no needless units.
# Environment: KEY (the public key that logs in), PASSWORD (of every user).
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

# Numbers of their own: to this machine a process of a host belongs to whoever has its number here, and may be ended with that user.
uid=52000
for shell in plain:bash noisy:bash tcsh:tcsh fish:fish sudo:bash password:bash; do
    uid=$((uid + 1))
    program=/bin/${shell##*:}
    [ -x "$program" ] || program=/usr$program
    useradd --create-home --uid "$uid" --shell "$program" "user-${shell%%:*}"
done
for user in root user-plain user-noisy user-tcsh user-fish user-sudo user-password; do
    echo "$user:$PASSWORD"
done | chpasswd

for home in /root /home/user-*; do
    mkdir -p -m 700 "$home/.ssh"
    echo "$KEY" >"$home/.ssh/authorized_keys"
    chmod 600 "$home/.ssh/authorized_keys"
    chown -R --reference="$home" "$home/.ssh"
done

# user-plain may not become root; user-password has to say its password; the others need none.
cat >/etc/sudoers.d/test-hosts <<'SUDO'
user-noisy,user-tcsh,user-fish,user-sudo ALL=(ALL) NOPASSWD: ALL
user-password ALL=(ALL) ALL
SUDO
chmod 440 /etc/sudoers.d/test-hosts

# Prints into every answer, looks like data, and redefines a command.
cat >/home/user-noisy/.bashrc <<'RC'
echo '{"x":1'
echo "message of the day" >&2
echo done
alias ls='ls --color=always'
alias python3='echo no'
RC

# No variable of the client arrives, and nothing waits for a name server.
sed -i '/^AcceptEnv/d' /etc/ssh/sshd_config
cat >/etc/ssh/sshd_config.d/test-hosts.conf <<'SSHD'
UseDNS no
PrintMotd no
PermitRootLogin yes
PasswordAuthentication yes
SSHD
rm -f /etc/ssh/ssh_host_* /etc/machine-id

cat >/etc/systemd/system/test-network.service <<'UNIT'
[Unit]
Description=Address of the test host
DefaultDependencies=no
Before=network.target ssh.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/etc/test-network
[Install]
WantedBy=multi-user.target
UNIT
ln -sf /etc/systemd/system/test-network.service /etc/systemd/system/multi-user.target.wants/
# Nobody but root may log in before user sessions are permitted; then sshd answering means that everybody may.
mkdir -p /etc/systemd/system/ssh.service.d
printf '[Unit]\nAfter=systemd-user-sessions.service\n' >/etc/systemd/system/ssh.service.d/after-sessions.conf
ln -sf /lib/systemd/system/ssh.service /etc/systemd/system/multi-user.target.wants/
# logind stays: user units with linger need it.
for unit in getty.target console-getty.service apt-daily.timer apt-daily-upgrade.timer man-db.timer e2scrub_all.timer \
    dpkg-db-backup.timer fstrim.timer systemd-networkd.service systemd-networkd-wait-online.service systemd-resolved.service \
    e2scrub_reap.service systemd-timesyncd.service; do
    ln -sf /dev/null "/etc/systemd/system/$unit"
done
# What a host without systemd runs: its address, then sshd and nothing else.
cat >/usr/local/sbin/only-sshd <<'RUN'
#!/bin/sh
/etc/test-network
mkdir -p /run/sshd
exec /usr/sbin/sshd -D -e
RUN
chmod 755 /usr/local/sbin/only-sshd
