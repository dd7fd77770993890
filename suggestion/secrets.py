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

# Patterns of file names in lower case, by the reason. It is better to hold back a file without secrets, which is only missing as context,
# than to show a key.
_SECRET_NAMES: dict[str, str] = {
    "environment variables, where most services want their keys": ".env .env.* *.env .env-*",
    "direnv's environment": ".envrc",
    "Cloudflare's environment of a worker": ".dev.vars*",
    "OpenSSH's keys": "id_rsa* id_dsa* id_ecdsa* id_ed25519* *_rsa *_dsa *_ecdsa *_ed25519",
    "certificates and private keys": "*.pem",
    "private keys": "*.key private_key",
    "private keys of PuTTY, and of PKCS 8": "*.ppk *.p8",
    "keys with their certificates (PKCS 12)": "*.p12 *.pfx *.pkcs12",
    "Java's key stores": "*.jceks *.jks",
    "Android's key stores": "*.bks",
    "Kerberos' keys": "*.keytab",
    "private keys, such as those of OTR": "*.private_key",
    "keys": "keystore keyring keypair",
    "macOS' passwords": "*.keychain *.keychain-db",
    "KDE's passwords": "*.kwallet",
    "BitLocker's keys": "*.bek *.fve",
    "keys of a TPM": "*.tpm",
    "Java's and Android's key stores": "*.keystore",
    "OpenPGP keys": "*.asc",
    "what was encrypted, opened by an editor": "*.gpg *.age",
    "KeePass's passwords": "*.kdbx *.kdb",
    "Password Safe's passwords": "*.psafe3",
    "1Password's passwords": "*.agilekeychain",
    "logins of curl, git and others": ".netrc _netrc",
    "options of curl and wget, logins among them": ".curlrc .wgetrc",
    "logins of Emacs": ".authinfo*",
    "PostgreSQL's passwords": ".pgpass pgpass.conf .pg_service.conf pg_service.conf",
    "the passwords of Rails' databases": "database.yml",
    "MongoDB's passwords": "mongoid.yml robomongo.json",
    "DBeaver's databases": "*dbeaver-data-sources.xml",
    "JetBrains' databases": "datasources.local.xml",
    ".NET's databases": "connectionstrings.config",
    "all that a database holds": "dump.sql *.dump.sql *.sqldump",
    "MySQL's password": ".my.cnf .mylogin.cnf",
    "hashes of passwords": ".htpasswd htpasswd shadow gshadow proftpdpasswd",
    "a mail server's passwords": "sasl_passwd",
    "passwords, such as those of PPP": "*-secrets",
    "a share's password": ".*smbcredentials",
    "npm's tokens": ".npmrc",
    "Yarn's tokens": ".yarnrc*",
    "PyPI's tokens": ".pypirc",
    "an index's address, often with its password": "pip.conf pip.ini",
    "a feed's password": "nuget.config",
    "Composer's and containers' passwords": "auth.json",
    "Poetry's passwords": "auth.toml",
    "Maven's master password": "settings-security.xml",
    "a channel's token": ".condarc",
    "git's passwords": ".git-credentials",
    "git's settings, tokens among them": ".gitconfig",
    "a registry's passwords": ".dockercfg .dockerconfigjson",
    "a cluster's keys": "kubeconfig* *.kubeconfig",
    "keys of a private network": "*.ovpn *.tblk",
    "WireGuard's keys": "wg[0-9].conf",
    "a remote desktop's login": "*.rdp",
    "rclone's tokens and passwords": "rclone.conf .rclone.conf",
    "ngrok's token": "ngrok.yml",
    "logins of an editor's uploads": "sftp-config.json sftp.json .ftpconfig .remote-sync.json deployment-config.json webservers.xml",
    "FileZilla's logins": "filezilla.xml sitemanager.xml recentservers.xml",
    "a server's passwords": "ventrilo_srv.ini",
    "a mail account's password": ".esmtprc .msmtprc .fetchmailrc .mbsyncrc .muttrc",
    "WordPress' database and salts": "wp-config*.php",
    "MediaWiki's database and keys": "localsettings.php",
    "what Rails signs cookies with": "secret_token.rb",
    "Chef's keys": "knife.rb",
    "Azure's keys": "*.cscfg",
    "Heroku's keys": "heroku.json",
    "Twitter's keys": ".trc",
    "DigitalOcean's keys": ".tugboat",
    "Databricks' tokens": ".databrickscfg",
    "Sentry's token": ".sentryclirc",
    "Google's token": ".clasprc.json",
    "Terraform's variables, where its passwords are given": "*.tfvars *.tfvars.json",
    "Terraform's state, with every password in the clear": "*.tfstate*",
    "what Terraform is about to do, with passwords in the clear": "*.tfplan",
    "Terraform's token": "terraform.rc .terraformrc",
    "Vault's token": ".vault-token",
    "Ansible's passwords": ".vault-pass* .vault_pass* vault.yml vault.yaml",
    "S3's keys": ".s3cfg .boto",
    "what Rails decrypts its credentials with": "master.key",
    "Azure Functions' connection strings": "local.settings.json",
    "Google Cloud's keys": "service-account*.json service_account*.json serviceaccount*.json",
    "Firebase's keys": "*firebase-adminsdk*.json google-services.json googleservice-info.plist",
    "what an Android app is signed with": "key.properties keystore.properties",
    "an Android project's own settings, keys among them": "local.properties",
    "a cloud's keys": "*-credentials.json *_credentials.json credentials.*",
    "OAuth's secrets and tokens": "client_secret* token.json",
    "a token": "*.token",
    "Firefox' passwords": "logins.json",
    "Firefox' keys": "key[34].db",
    "AWS's keys, and others'": "credentials",
    "secrets": "secret secrets secret.* secrets.* .secrets* *.secret *.secrets",
    "passwords": "passwords.*",
    "what was typed into a shell or a database, passwords included": "*_history",
}
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
_SECRET_NAME = re.compile("|".join(translate(pattern) for patterns in _SECRET_NAMES.values() for pattern in patterns.split()))
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
