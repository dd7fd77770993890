from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest

from assay.suggestion.secrets import is_secret_path


def names_in(table: str) -> list[str]:
    return table.strip().replace("\n", "|").split("|")


SECRET = names_in("""
.env|app/.env.production|deploy/production.env|.ENV|home/.ssh/config|keys/id_rsa|keys/id_ed25519_work|tls/server.PEM|tls/server.key
.netrc|.pgpass|.npmrc|.pypirc|kubeconfig.yaml|.kube/config|.aws/credentials|credentials.json|config/secrets.yml|config/secrets.py
passwords.kdbx|infra/prod.tfvars|.git-credentials|config/master.key|my-service-account.p12|site/wp-config.php|site/wp-config.php.bak
site/wp-config.php~|LocalSettings.php|worker/.dev.vars|.dev.vars.staging|rclone.conf|.config/rclone/anything
/srv/.config/gcloud/configurations/config_default|Library/Application Support/doctl/config.yaml|token.json|NuGet.Config|auth.json
config/database.yml|.vscode/sftp.json|.idea/WebServers.xml|deploy_rsa|etc/shadow|app-firebase-adminsdk-x1.json|serviceAccountKey.json
server.key.old|host.keytab|wg0.conf
""")
OPEN = names_in("""
server/environment.py|secretary.py|src/key.py|keyboard.ts|.env.example|secrets.sample.yml.template|id_rsa.pub|pem.go
docs/credentials/index.md|.github/workflows/test.yml|tests/test_env.py|site/wp-config-sample.php|site/config.php|src/token.py
src/auth.py|app/settings.py|shadow.css|src/keystore.py|main.tf|rclone/backend/s3/s3.go|app/gcloud/client.py|doctl/commands/apps.go
design/tokens.json|notes.bak
""")


@pytest.mark.parametrize("path", SECRET)
def test_a_file_that_holds_secrets_is_known_by_its_name(path: str) -> None:
    assert is_secret_path(path)
    assert is_secret_path(Path(path))


@pytest.mark.parametrize("path", ["", *OPEN])
def test_other_files_are_not_held_back(path: str) -> None:
    assert not is_secret_path(path)


def test_a_path_of_windows_is_read_as_one() -> None:
    assert is_secret_path("C:\\Users\\me\\.ssh\\config")
    assert is_secret_path("C:\\Users\\me\\AppData\\Roaming\\gcloud\\access_tokens")
    assert is_secret_path(PureWindowsPath("C:\\app\\.env"))
    assert not is_secret_path("C:\\app\\main.py")
