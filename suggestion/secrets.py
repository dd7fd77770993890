"""Which files are never shown to a model: those whose name says that they contain secrets.

Other files are shown to the model only if they are open in the editor. The user has seen those, so it does not matter whether git ignores
them. Nor does a project's memory read a file of these.
"""

from __future__ import annotations

import re
from contextlib import suppress
from fnmatch import translate
from itertools import pairwise
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

# Patterns of file names in lower case, with the reason. It is better to hold back a file without secrets, which is only missing as context,
# than to show a key.
_SECRET_NAMES: tuple[tuple[str, str], ...] = (
    (".env", "environment variables, where most services want their keys"),
    (".env.*", "the same for one environment"),
    ("*.env", "the same by another name"),
    (".envrc", "direnv's environment"),
    (".env-*", "the same for one environment"),
    (".dev.vars*", "Cloudflare's environment of a worker"),
    ("id_rsa*", "OpenSSH's keys"),
    ("id_dsa*", "OpenSSH's keys"),
    ("id_ecdsa*", "OpenSSH's keys"),
    ("id_ed25519*", "OpenSSH's keys"),
    ("*_rsa", "OpenSSH's keys"),
    ("*_dsa", "OpenSSH's keys"),
    ("*_ecdsa", "OpenSSH's keys"),
    ("*_ed25519", "OpenSSH's keys"),
    ("*.pem", "certificates and private keys"),
    ("*.key", "private keys"),
    ("*.ppk", "PuTTY's private keys"),
    ("*.p8", "private keys (PKCS 8)"),
    ("*.p12", "keys with their certificates (PKCS 12)"),
    ("*.pfx", "keys with their certificates (PKCS 12)"),
    ("*.pkcs12", "keys with their certificates (PKCS 12)"),
    ("*.jceks", "Java's key stores"),
    ("*.bks", "Android's key stores"),
    ("*.keytab", "Kerberos' keys"),
    ("*.private_key", "private keys, such as those of OTR"),
    ("private_key", "a private key"),
    ("keystore", "keys"),
    ("keyring", "keys"),
    ("keypair", "keys"),
    ("*.keychain", "macOS' passwords"),
    ("*.keychain-db", "macOS' passwords"),
    ("*.kwallet", "KDE's passwords"),
    ("*.bek", "BitLocker's keys"),
    ("*.fve", "BitLocker's keys"),
    ("*.tpm", "keys of a TPM"),
    ("*.jks", "Java's key stores"),
    ("*.keystore", "Java's and Android's key stores"),
    ("*.asc", "OpenPGP keys"),
    ("*.gpg", "what was encrypted, opened by an editor"),
    ("*.age", "what was encrypted, opened by an editor"),
    ("*.kdbx", "KeePass's passwords"),
    ("*.kdb", "KeePass's passwords"),
    ("*.psafe3", "Password Safe's passwords"),
    ("*.agilekeychain", "1Password's passwords"),
    (".netrc", "logins of curl, git and others"),
    ("_netrc", "the same on Windows"),
    (".curlrc", "curl's options, logins among them"),
    (".wgetrc", "wget's options, logins among them"),
    (".authinfo*", "logins of Emacs"),
    (".pgpass", "PostgreSQL's passwords"),
    ("pgpass.conf", "the same on Windows"),
    (".pg_service.conf", "PostgreSQL's passwords"),
    ("pg_service.conf", "PostgreSQL's passwords"),
    ("database.yml", "the passwords of Rails' databases"),
    ("mongoid.yml", "MongoDB's password"),
    ("robomongo.json", "MongoDB's passwords"),
    ("*dbeaver-data-sources.xml", "DBeaver's databases"),
    ("datasources.local.xml", "JetBrains' databases"),
    ("connectionstrings.config", ".NET's databases"),
    ("dump.sql", "all that a database holds"),
    ("*.dump.sql", "all that a database holds"),
    ("*.sqldump", "all that a database holds"),
    (".my.cnf", "MySQL's password"),
    (".mylogin.cnf", "MySQL's password"),
    (".htpasswd", "hashes of passwords"),
    ("htpasswd", "hashes of passwords"),
    ("shadow", "hashes of passwords"),
    ("gshadow", "hashes of passwords"),
    ("proftpdpasswd", "hashes of passwords"),
    ("sasl_passwd", "a mail server's passwords"),
    ("*-secrets", "passwords, such as those of PPP"),
    (".*smbcredentials", "a share's password"),
    (".npmrc", "npm's tokens"),
    (".yarnrc*", "Yarn's tokens"),
    (".pypirc", "PyPI's tokens"),
    ("pip.conf", "an index's address, often with its password"),
    ("pip.ini", "the same on Windows"),
    ("nuget.config", "a feed's password"),
    ("auth.json", "Composer's and containers' passwords"),
    ("auth.toml", "Poetry's passwords"),
    ("settings-security.xml", "Maven's master password"),
    (".condarc", "a channel's token"),
    (".git-credentials", "git's passwords"),
    (".gitconfig", "git's settings, tokens among them"),
    (".dockercfg", "a registry's passwords"),
    (".dockerconfigjson", "a registry's passwords"),
    ("kubeconfig*", "a cluster's keys"),
    ("*.kubeconfig", "a cluster's keys"),
    ("*.ovpn", "keys of a private network"),
    ("*.tblk", "keys of a private network"),
    ("wg[0-9].conf", "WireGuard's keys"),
    ("*.rdp", "a remote desktop's login"),
    ("rclone.conf", "rclone's tokens and passwords"),
    (".rclone.conf", "rclone's tokens and passwords"),
    ("ngrok.yml", "ngrok's token"),
    ("sftp-config.json", "logins of an editor's uploads"),
    ("sftp.json", "logins of an editor's uploads"),
    (".ftpconfig", "logins of an editor's uploads"),
    (".remote-sync.json", "logins of an editor's uploads"),
    ("deployment-config.json", "logins of an editor's uploads"),
    ("webservers.xml", "logins of an editor's uploads"),
    ("filezilla.xml", "FileZilla's logins"),
    ("sitemanager.xml", "FileZilla's logins"),
    ("recentservers.xml", "FileZilla's logins"),
    ("ventrilo_srv.ini", "a server's passwords"),
    (".esmtprc", "a mail account's password"),
    (".msmtprc", "a mail account's password"),
    (".fetchmailrc", "a mail account's password"),
    (".mbsyncrc", "a mail account's password"),
    (".muttrc", "a mail account's password"),
    ("wp-config*.php", "WordPress' database and salts"),
    ("localsettings.php", "MediaWiki's database and keys"),
    ("secret_token.rb", "what Rails signs cookies with"),
    ("knife.rb", "Chef's keys"),
    ("*.cscfg", "Azure's keys"),
    ("heroku.json", "Heroku's keys"),
    (".trc", "Twitter's keys"),
    (".tugboat", "DigitalOcean's keys"),
    (".databrickscfg", "Databricks' tokens"),
    (".sentryclirc", "Sentry's token"),
    (".clasprc.json", "Google's token"),
    ("*.tfvars", "Terraform's variables, where its passwords are given"),
    ("*.tfvars.json", "Terraform's variables, where its passwords are given"),
    ("*.tfstate*", "Terraform's state, with every password in the clear"),
    ("*.tfplan", "what Terraform is about to do, with passwords in the clear"),
    ("terraform.rc", "Terraform's token"),
    (".terraformrc", "Terraform's token"),
    (".vault-token", "Vault's token"),
    (".vault-pass*", "Ansible's passwords"),
    (".vault_pass*", "Ansible's passwords"),
    ("vault.yml", "Ansible's passwords"),
    ("vault.yaml", "Ansible's passwords"),
    (".s3cfg", "S3's keys"),
    (".boto", "S3's keys"),
    ("master.key", "what Rails decrypts its credentials with"),
    ("local.settings.json", "Azure Functions' connection strings"),
    ("service-account*.json", "Google Cloud's keys"),
    ("service_account*.json", "Google Cloud's keys"),
    ("serviceaccount*.json", "Google Cloud's keys"),
    ("*firebase-adminsdk*.json", "Firebase's keys"),
    ("google-services.json", "Firebase's keys"),
    ("googleservice-info.plist", "Firebase's keys"),
    ("key.properties", "what an Android app is signed with"),
    ("keystore.properties", "what an Android app is signed with"),
    ("local.properties", "an Android project's own settings, keys among them"),
    ("*-credentials.json", "a cloud's keys"),
    ("*_credentials.json", "a cloud's keys"),
    ("client_secret*", "OAuth's secrets"),
    ("token.json", "OAuth's tokens, by the name that Google's examples give them"),
    ("*.token", "a token"),
    ("logins.json", "Firefox' passwords"),
    ("key[34].db", "Firefox' keys"),
    ("credentials", "AWS's keys, and others'"),
    ("credentials.*", "a cloud's keys"),
    ("secret", "a secret"),
    ("secrets", "secrets"),
    ("secret.*", "a secret"),
    ("secrets.*", "secrets"),
    (".secrets*", "secrets"),
    ("*.secret", "a secret"),
    ("*.secrets", "secrets"),
    ("passwords.*", "passwords"),
    ("*_history", "what was typed into a shell or a database, passwords included"),
)
# All files in these folders count as secrets, because programs keep their keys there.
_SECRET_FOLDERS = frozenset(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"}
    | {".chef", ".oci", ".mozilla", ".purple", ".irssi", ".cloudflared", ".snowsql", ".terraform.d"}
)
# The same below a folder of settings; elsewhere these are names of programs.
_SETTINGS_FOLDERS = frozenset({".config", "application support", "roaming"})
_SECRET_SETTINGS = frozenset({"doctl", "gcloud", "rclone"})
# Templates are made to be shown.
_SHOWN = ("*.example", "*.sample", "*.template", "*.dist", "example.*", "*.pub", "wp-config-sample.php")
# What an editor or a person puts behind the name of a copy.
_COPY = re.compile(r"(?:~|[.](?:bak|backup|old|orig|save|swp|tmp)[0-9]*)+$")
_SECRET_NAME = re.compile("|".join(translate(pattern) for pattern, _ in _SECRET_NAMES))
_SHOWN_NAME = re.compile("|".join(map(translate, _SHOWN)))


def is_secret_path(path: PurePath | str) -> bool:
    """Whether a file has secrets, by its name or the name of its folder, or those of what a link leads to. The file is not read."""
    if isinstance(path, Path):
        with suppress(OSError, ValueError, RuntimeError):
            if (led_to := path.resolve()) != path and _is_secret(led_to):
                return True
    return _is_secret(path)


def _is_secret(path: PurePath | str) -> bool:
    if isinstance(path, str):
        path = PureWindowsPath(path) if "\\" in path else PurePosixPath(path)
    *folders, name = [part.lower() for part in path.parts] or [""]
    in_settings = any(above in _SETTINGS_FOLDERS and folder in _SECRET_SETTINGS for above, folder in pairwise(folders))
    if in_settings or not _SECRET_FOLDERS.isdisjoint(folders):
        return True
    name = _COPY.sub("", name)
    return _SHOWN_NAME.match(name) is None and _SECRET_NAME.match(name) is not None
