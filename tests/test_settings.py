"""Settings: read from the environment, with the limits that `Limits` declares."""

import pytest
from pydantic import ValidationError

from app.errors.machine import SettingNotValid
from app.services.limits import Limits
from app.settings import Settings, unknown_variables


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"RACKPLAN_{name.upper()}", raising=False)


def test_every_limit_is_a_setting_with_the_same_default_and_minimum() -> None:
    assert Settings().limits == Limits()
    for name, field in Limits.model_fields.items():
        assert Settings.model_fields[name].metadata == field.metadata


@pytest.mark.parametrize("name", sorted(Limits.numbers()))
def test_a_limit_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"RACKPLAN_{name.upper()}", "1234")
    assert getattr(Settings().limits, name) == 1234
    monkeypatch.setenv(f"RACKPLAN_{name.upper()}", "0")
    with pytest.raises(SettingNotValid, match=f"RACKPLAN_{name.upper()} is '0': "):
        Settings()


@pytest.mark.parametrize("name", ["allowed_origins", "allowed_hosts", "dataset_roots"])
@pytest.mark.parametrize(
    ("text", "values"), [("a", ("a",)), ("a, b,,c ", ("a", "b", "c")), ("", ()), ('["a"]', ('["a"]',))]
)
def test_a_list_is_separated_by_commas(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, values: tuple[str, ...]
) -> None:
    monkeypatch.setenv(f"RACKPLAN_{name.upper()}", text)
    assert getattr(Settings(), name) == values


def test_limits_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Limits().max_brokers = 1  # type: ignore[misc] # the test is that it fails


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("PORT", "abc", "RACKPLAN_PORT is 'abc': Input should be a valid integer"),
        ("PORT", "99999", "RACKPLAN_PORT is '99999': Input should be less than or equal to 65535"),
        ("LOG_LEVEL", "loud", "RACKPLAN_LOG_LEVEL is 'loud': Input should be 'debug', 'info'"),
        ("SPARK_PROPERTIES", "/none", "RACKPLAN_SPARK_PROPERTIES is '/none': Path does not point to a file"),
    ],
)
def test_a_bad_setting_is_named_with_its_value_and_limit(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(f"RACKPLAN_{variable}", value)
    with pytest.raises(SettingNotValid) as invalid:
        Settings()
    assert invalid.value.detail.startswith(reason)


def test_no_message_repeats_the_address_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKPLAN_DATABASE_URL", "postgresql://rackplan:secret@db/rackplan")
    monkeypatch.setenv("RACKPLAN_PORT", "abc")
    with pytest.raises(SettingNotValid) as invalid:
        Settings()
    assert "secret" not in invalid.value.detail


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        (
            "OIDC_ISSUER",
            "http://issuer.example",
            "it has to begin with https:// (http:// for a loopback address alone)",
        ),
        ("OIDC_ISSUER", "https://a:b@issuer.example", "it has to have a host, and neither a user nor a fragment"),
        ("OIDC_ISSUER", "https://issuer.example?x=1", "it has to be an address without a query"),
        (
            "OIDC_ISSUER",
            "https://issuer.example",
            "OIDC_ISSUER needs RACKPLAN_OIDC_AUDIENCE, RACKPLAN_OIDC_CLIENT_ID or both",
        ),
        ("OIDC_AUDIENCE", "x", "OIDC_AUDIENCE needs RACKPLAN_OIDC_ISSUER"),
        ("OIDC_ALGORITHMS", "RS256,HS256", "Input should be 'RS256', 'RS384'"),
        ("OIDC_ALGORITHMS", "none", "Input should be 'RS256'"),
        ("OIDC_SKEW_SECONDS", "301", "less than or equal to 300"),
        ("OIDC_TEAMS", "group", "'group' has no `=`"),
        ("OIDC_TEAMS", "group=Payments", "'Payments' is no name of a team"),
        ("OIDC_SCOPES", "planner=root", "Input should be 'read', 'plan', 'sweep' or 'admin'"),
        ("OIDC_SIGN_IN_SCOPES", "profile", "String should match pattern"),
        ("OIDC_CLIENT_SECRET_FILE", "/none", "Path does not point to"),
        ("PUBLIC_URL", "https://a.example/rackplan", "it has a path; the pages are at the root of a host"),
        ("PUBLIC_URL", "//a.example", "it has to begin with https://"),
    ],
)
def test_a_bad_setting_of_oidc(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str) -> None:
    monkeypatch.setenv(f"RACKPLAN_{variable}", value)
    with pytest.raises(SettingNotValid) as invalid:
        Settings()
    assert invalid.value.detail.startswith(f"RACKPLAN_{variable} ")
    assert reason in invalid.value.detail


def test_a_sign_in_needs_the_address_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKPLAN_OIDC_ISSUER", "https://issuer.example")
    monkeypatch.setenv("RACKPLAN_OIDC_CLIENT_ID", "rackplan")
    with pytest.raises(SettingNotValid, match="RACKPLAN_OIDC_CLIENT_ID needs RACKPLAN_PUBLIC_URL"):
        Settings()
    monkeypatch.setenv("RACKPLAN_PUBLIC_URL", "https://rackplan.example")
    monkeypatch.setenv("RACKPLAN_OIDC_AUTHORIZED_PARTIES", "portal, cli")
    monkeypatch.setenv("RACKPLAN_OIDC_TEAMS", "/groups/a=payments, CN=b=orders,ops=*")
    oidc = Settings().oidc
    assert oidc is not None
    assert oidc.oidc_authorized_parties == ("portal", "cli")
    assert dict(oidc.oidc_teams) == {"/groups/a": "payments", "CN=b": "orders", "ops": "*"}


def test_a_variable_that_is_no_setting_is_named() -> None:
    environment = {
        "RACKPLAN_PROT": "9090",
        "RACKPLAN_PORT": "9090",
        "RACKPLAN_KEY": "x",
        "rackplan_host": "::",
        "PATH": "/",
        "RACKPLAN_CATS": "3",
    }
    assert unknown_variables(environment) == [
        "RACKPLAN_CATS is no setting",
        "RACKPLAN_PROT is no setting; did you mean 'PORT'?",
    ]
    assert unknown_variables({f"RACKPLAN_{name.upper()}": "" for name in Settings.model_fields}) == []
