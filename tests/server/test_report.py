"""The report over HTTP: the page of the campaign, with a policy under which nothing in it can run."""

import re

from tests.server.servers import Running

NASTY = "<script>alert(1)</script>"


def test_a_server_gives_the_page_that_the_campaign_makes(server: Running, name: str) -> None:
    campaign = server.client().create_campaign(name, models=[NASTY, "b"], options={"query_scale": 1e6})
    for step in range(3):
        answer = server.get(f"/campaigns/{name}/report")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["content-disposition"].startswith(f'inline; filename="{name}-report.html"')
        assert answer.headers["cache-control"] == "no-store"
        assert answer.text.count("<script") == 0
        assert f"<dd>{step}</dd>" in answer.text
        campaign.tell(campaign.ask(["x", "y"]).round, "x", annotator="ann")
    assert "Use" not in campaign.report()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; is the best so far." in campaign.report()


def test_the_report_has_one_policy_and_all_else_keeps_the_usual_one(server: Running, name: str) -> None:
    server.client().create_campaign(name, models=2)
    policies = server.get(f"/campaigns/{name}/report").headers.get_list("content-security-policy")
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
    usual = server.get(f"/campaigns/{name}").headers.get_list("content-security-policy")
    assert len(usual) == 1
    assert "script-src 'self'" in usual[0]
    assert "'unsafe-inline'" not in usual[0]


def test_a_campaign_that_is_not_there_has_no_report(server: Running) -> None:
    assert server.get("/campaigns/nowhere/report").status_code == 404


def test_a_report_does_not_tell_where_the_server_keeps_its_data(server: Running, name: str) -> None:
    server.client().create_campaign(name, models=2)
    page = server.get(f"/campaigns/{name}/report").text
    assert not re.search(r"campaigns\.db|postgresql://", page)
