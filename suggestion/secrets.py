"""Which files are never shown to a model: those whose name says that they contain secrets.

Other files are shown to the model only if they are open in the editor. The user has seen those, so it does not matter whether git ignores
them. Nor does a project's memory read a file of these.
"""

from __future__ import annotations

import re
from fnmatch import translate
from pathlib import PurePath, PurePosixPath, PureWindowsPath

# Patterns of file names in lower case, with the reason. It is better to hold back a file without secrets, which is only missing as context,
# than to show a key.
_SECRET_NAMES: tuple[tuple[str, str], ...] = (
    (".env", "environment variables, where most services want their keys"),
    (".env.*", "the same for one environment"),
    ("*.env", "the same by another name"),
    (".envrc", "direnv's environment"),
    ("id_rsa*", "OpenSSH's keys"),
    ("id_dsa*", "OpenSSH's keys"),
    ("id_ecdsa*", "OpenSSH's keys"),
    ("id_ed25519*", "OpenSSH's keys"),
    ("*.pem", "certificates and private keys"),
    ("*.key", "private keys"),
    ("*.ppk", "PuTTY's private keys"),
    ("*.p8", "private keys (PKCS 8)"),
    ("*.p12", "keys with their certificates (PKCS 12)"),
    ("*.pfx", "keys with their certificates (PKCS 12)"),
    ("*.jks", "Java's key stores"),
    ("*.keystore", "Java's and Android's key stores"),
    ("*.asc", "OpenPGP keys"),
    ("*.gpg", "what was encrypted, opened by an editor"),
    ("*.age", "what was encrypted, opened by an editor"),
    ("*.kdbx", "KeePass's passwords"),
    ("*.agilekeychain", "1Password's passwords"),
    (".netrc", "logins of curl, git and others"),
    ("_netrc", "the same on Windows"),
    (".authinfo*", "logins of Emacs"),
    (".pgpass", "PostgreSQL's passwords"),
    ("pgpass.conf", "the same on Windows"),
    (".my.cnf", "MySQL's password"),
    (".mylogin.cnf", "MySQL's password"),
    (".htpasswd", "hashes of passwords"),
    ("htpasswd", "hashes of passwords"),
    (".npmrc", "npm's tokens"),
    (".yarnrc*", "Yarn's tokens"),
    (".pypirc", "PyPI's tokens"),
    ("pip.conf", "an index's address, often with its password"),
    (".git-credentials", "git's passwords"),
    (".dockercfg", "a registry's passwords"),
    (".dockerconfigjson", "a registry's passwords"),
    ("kubeconfig*", "a cluster's keys"),
    ("*.kubeconfig", "a cluster's keys"),
    ("*.ovpn", "keys of a private network"),
    ("*.tfvars", "Terraform's variables, where its passwords are given"),
    ("*.tfvars.json", "Terraform's variables, where its passwords are given"),
    ("*.tfstate*", "Terraform's state, with every password in the clear"),
    ("terraform.rc", "Terraform's token"),
    (".terraformrc", "Terraform's token"),
    (".vault-token", "Vault's token"),
    (".vault-pass*", "Ansible's passwords"),
    (".vault_pass*", "Ansible's passwords"),
    (".s3cfg", "S3's keys"),
    (".boto", "S3's keys"),
    ("master.key", "what Rails decrypts its credentials with"),
    ("local.settings.json", "Azure Functions' connection strings"),
    ("service-account*.json", "Google Cloud's keys"),
    ("service_account*.json", "Google Cloud's keys"),
    ("*-credentials.json", "a cloud's keys"),
    ("client_secret*", "OAuth's secrets"),
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
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"})
# Templates are made to be shown.
_SHOWN = ("*.example", "*.sample", "*.template", "*.dist", "example.*", "*.pub")
_SECRET_NAME = re.compile("|".join(translate(pattern) for pattern, _ in _SECRET_NAMES))
_SHOWN_NAME = re.compile("|".join(map(translate, _SHOWN)))


def is_secret_path(path: PurePath | str) -> bool:
    """Whether a file has secrets, by its name or the name of its folder. The file is not read."""
    if isinstance(path, str):
        path = PureWindowsPath(path) if "\\" in path else PurePosixPath(path)
    *folders, name = [part.lower() for part in path.parts] or [""]
    if not _SECRET_FOLDERS.isdisjoint(folders):
        return True
    return _SHOWN_NAME.match(name) is None and _SECRET_NAME.match(name) is not None
