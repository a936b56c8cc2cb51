"""Pages, pictures and charts, rendered on the server, without files of other hosts; of use without a script.

console.py    all pages as one router
clusters/     `/` and `/clusters/{name}`: health, the map of brokers, losses, history
plans/        `/plans/{id}`: the page of a plan of any kind
sweeps/       `/sweeps` and `/sweeps/{id}`: progress, charts, scenarios
forms/        `/plan` and `/plan/{kind}`: requests as forms
search.py     `/search`: clusters, brokers, topics, groups, plans and studies by name
sharing.py    share links: made, verified, revoked; access.py: permissions of the pages
sign_in.py    sign-in of browsers at the OIDC issuer, and sign-out
administration/  `/keys`, `/webhooks` and `/audit`
lists.py      `/plans` and `/jobs`
guide.py      `/guide`: the documentation, with a search
reference.py  `/docs`, `/redoc`, the OpenAPI document, the pages of codes
pictures/     pictures as SVG and PNG
charts.py     charts as Vega-Lite specifications, SVG and PNG
chart_process.py  the process that draws them, while it is needed; chart_engine.py: its program
problem_page.py  a problem, for browsers
pages.py      templates and the headers of every page
words.py      numbers and moments in words
assets.py     style sheets, scripts and icon, cached by browsers
"""
