import { words } from "../words.ts";

/** Outside the home; only entries that this user could read are masked. */
export const MASKED_SYSTEM = words(`
  /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/security/opasswd /etc/krb5.keytab
  /etc/sudoers /etc/sudoers.d /etc/ssl/private /etc/letsencrypt /etc/wireguard /etc/openvpn
  /etc/NetworkManager/system-connections /etc/kubernetes /etc/rancher /etc/docker/key.json
  /etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key
  /etc/ssh/ssh_host_dsa_key /etc/pki/tls/private /etc/swanctl/private /etc/ppp/chap-secrets
  /var/lib/docker /var/lib/containerd /var/lib/kubelet /var/lib/sss /var/lib/NetworkManager
  /var/spool/cron /var/mail /var/spool/mail /var/backups/shadow.bak /var/backups/gshadow.bak /.dockercfg
  /var/snap/lxd/common/lxd/unix.socket /var/lib/lxd/unix.socket /var/lib/incus/unix.socket
  /var/lib/libvirt /var/lib/dbus/system_bus_socket
`);

/** Home folders: root can read all of them. Shared parts are mounted again. */
export const OTHER_HOMES = ["/root", "/home"] as const;
export const SHARED_IN_HOMES = ["/home/linuxbrew"] as const;

/** `/run` is empty except for these: name resolution and NixOS programs. */
export const SHOWN_IN_RUN = words(`
  /run/current-system /run/opengl-driver /run/systemd/resolve/resolv.conf
`);

/** The minimum a program needs to run, for the mode in which nothing else is visible. */
export const SYSTEM = words(`
  /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /nix/store /gnu/store
`);

/** Where programs are installed besides the system's. */
export const INSTALLED = [...words("/opt /snap /var/lib/snapd /var/lib/flatpak"), ...SHARED_IN_HOMES];
