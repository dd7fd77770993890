from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suggestion.kind import _FAMILIES, Kind, kind_at
from assay.suggestion.secrets import is_secret_path
from assay.suggestion.stopping_rule import block_indent, function_indent

LANGUAGES = [*_FAMILIES, "plaintext"]
PIECES = [
    *("def f(", "def f():", "):", "if x:", "else:", "class A:", '"""', "'''", '"""Doc."""', "'d'", "lambda:", "match x:", "case 1:", "@d"),
    *("x: ", "# c", "// c", "x = {", "{", "}", "f() {", "() => {", "do", "then", "end", "if (x) {", "\\", "a \\", "[", "]", "("),
]
LINES = st.lists(
    st.tuples(
        st.sampled_from(["", " ", "    ", "\t", "        "]),
        st.one_of(
            st.sampled_from(PIECES),
            st.text(max_size=5),
        ),
        st.sampled_from(["\n", "\r\n", "\r", ""]),
    ).map("".join),
    max_size=12,
).map("".join)


@given(LINES, LINES, st.sampled_from(LANGUAGES), st.booleans())
def test_no_text_of_any_language_fails(prefix: str, suffix: str, language: str, cut: bool) -> None:
    assert kind_at(prefix, suffix, language, cut=cut) in ("line", "block", "function")


@given(LINES, LINES, st.sampled_from(LANGUAGES), st.sampled_from("x)]}:;é"))
def test_with_text_behind_the_cursor_on_its_line_a_line_is_suggested(prefix: str, suffix: str, language: str, text: str) -> None:
    assert kind_at(prefix, f"  {text}{suffix}", language) == "line"


@given(LINES, LINES)
def test_how_lines_end_is_no_matter(prefix: str, suffix: str) -> None:
    prefix, suffix = prefix.replace("\r\n", "\n").replace("\r", "\n"), suffix.replace("\r\n", "\n").replace("\r", "\n")
    for newline in ("\r\n", "\r"):
        assert kind_at(prefix.replace("\n", newline), suffix.replace("\n", newline), "python") == kind_at(prefix, suffix, "python")


@pytest.mark.parametrize(
    ("language", "place", "kind"),
    [
        ("python", "def f():|", "function"),
        ("python", "def f():\n    |", "function"),
        ("python", "def f():\n    |\n    return 1", "line"),
        ("python", "def f(): |", "line"),
        ("python", "if x:\n    |", "block"),
        ("python", "async def f(\n    a,  # b)\n    b=')',\n) -> int:\n    |", "function"),
        ("python", "@a\n@b(c)\ndef f():  # x\n\n    # y\n    |", "function"),
        ("python", 'def f():\n    """Doc.\n\n    More.\n    """\n    |', "function"),
        ("python", 'def f():\n    """Args:\n    if x:\n    |', "line"),
        ("python", 'class A:\n    """Doc."""\n\n    |', "block"),
        ("python", "def f():\n    'Doc.'|", "function"),
        ("python", "d = {\n    'a':\n    |", "line"),
        ("python", "x = lambda:\n|", "line"),
        ("python", "try:\n    |\nexcept E:\n    pass", "block"),
        ("python", "if a and \\\n        b:\n    |", "block"),
        ("python", "elsewhere:\n|", "line"),
        ("python", "    case A(x=1):\n        |", "block"),
        ("python", "if x:\n    |\n# c\ny", "block"),
        ("python", "if x:\n    |\n    # c\n    y", "line"),
        ("javascript", "function f(a, b) {\n  |\n}", "function"),
        ("javascript", "const f = async (a) => {\n  |\n};", "function"),
        ("javascript", "x = {\n  |\n}", "line"),
        ("javascript", "} else {\n  |\n}", "block"),
        ("javascript", "class A extends B {\n  |\n}", "block"),
        ("javascript", "if (a) {\n  |\n  b();\n}", "line"),
        ("typescript", "f(a: number): string[] {\n  |\n}", "function"),
        ("c", "int main(int c, char **v)\n{\n    |\n}", "function"),
        ("c", "  case 'a': {\n    |\n  }", "block"),
        ("cpp", "A::A(int x) : b(x), c(1) {\n  |\n}", "function"),
        ("java", "@Override\npublic List<A> f(int a) throws E {\n    |\n}", "function"),
        ("java", "new int[] {\n|\n}", "line"),
        ("java", "run(() -> {\n|\n});", "block"),
        ("rust", "fn f<'a>(x: &'a str) -> Vec<u8> {\n    |\n}", "function"),
        ("rust", "A::B => {\n|\n}", "block"),
        ("go", "func (a *A) B(c int) (d, error) {\n\t|\n}", "function"),
        ("go", "x := []int{\n\t|\n}", "line"),
        ("go", "go func() {\n\t|\n}()", "function"),
        ("kotlin", "fun f(a: Int): List<A> {\n    |\n}", "function"),
        ("swift", "func f(a: Int) -> [Int] {\n    |\n}", "function"),
        ("csharp", "public int F(int a)\n{\n    |\n}", "function"),
        ("php", "public function f($a): array {\n    |\n}", "function"),
        ("ruby", "def f(a, b = 1)\n  |\nend", "function"),
        ("ruby", "a.each do\n  |\nend", "block"),
        ("ruby", "x = y if a\n|", "line"),
        ("lua", "local function f(a)\n  |\nend", "function"),
        ("shellscript", "f() {\n  |\n}", "function"),
        ("shellscript", "for a in b; do\n  |\ndone", "block"),
        ("css", "a:hover {\n  |\n}", "block"),
        ("json", "{\n|\n}", "line"),
    ],
)
def test_a_place_gets_what_fits_it(language: str, place: str, kind: Kind) -> None:
    """The cursor is at the `|`."""
    prefix, suffix = place.split("|")
    assert kind_at(prefix, suffix, language) == kind


def test_a_prefix_that_is_cut_inside_a_docstring_does_not_turn_code_into_a_string() -> None:
    prefix = 'docstring.\n    """\n\ndef g(x):\n    if x:\n        '
    assert kind_at(prefix, "", "python", cut=True) == "block"
    assert kind_at(prefix, "", "python") == "line"


@pytest.mark.parametrize(
    ("prefix", "columns"),
    [
        ("", 0),
        ("def f():\n    ", 4),
        ("def f():\n    x = 1\n    y", 4),
        ("def f():\n", 1),
        ("def f():  # why\n", 1),
        ("    if x:\n\n", 5),
        ("\tx", 8),
        ("def f():\n    return 1\n", 0),
    ],
)
def test_a_block_is_as_deep_as_its_line_and_deeper_than_what_opens_it(prefix: str, columns: int) -> None:
    assert block_indent(prefix) == columns


@pytest.mark.parametrize(
    ("prefix", "columns"),
    [
        ("def f():\n    ", 1),
        ("class A:\n    async def f(\n        self,\n    ) -> int:\n        for x in y:\n            z\n            ", 5),
        ("def f():\n    x = 1\n\ny = ", 0),
        ("if x:\n    y\n    ", 4),
        ("    pub(crate) async fn f() {\n        ", 5),
        ("def f():\n    def g():\n        pass\n    ", 1),
        ("", 0),
    ],
)
def test_a_function_is_as_deep_as_its_body_wherever_in_it_the_cursor_stands(prefix: str, columns: int) -> None:
    assert function_indent(prefix) == columns


def names_in(table: str) -> list[str]:
    return table.strip().replace("\n", "|").split("|")


SECRET = names_in("""
.env|app/.env.production|deploy/production.env|.ENV|home/.ssh/config|keys/id_rsa|keys/id_ed25519_work|tls/server.PEM|tls/server.key
.netrc|.pgpass|.npmrc|.pypirc|kubeconfig.yaml|.kube/config|.aws/credentials|credentials.json|config/secrets.yml|config/secrets.py
passwords.kdbx|infra/prod.tfvars|.git-credentials|config/master.key|my-service-account.p12|site/wp-config.php|site/wp-config.php.bak
site/wp-config.php~|LocalSettings.php|worker/.dev.vars|.dev.vars.staging|rclone.conf|.config/rclone/anything
/srv/.config/gcloud/configurations/config_default|Library/Application Support/doctl/config.yaml|token.json|NuGet.Config|auth.json
config/database.yml|.vscode/sftp.json|.idea/WebServers.xml|deploy_rsa|etc/shadow|app-firebase-adminsdk-x1.json|serviceAccountKey.json
server.key.old|host.keytab|wg0.conf|AppData/Roaming/gcloud/access_tokens
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
    assert is_secret_path(str(PureWindowsPath("C:/Users/me") / path))


@pytest.mark.parametrize("path", ["", *OPEN])
def test_other_files_are_not_held_back(path: str) -> None:
    assert not is_secret_path(path)
