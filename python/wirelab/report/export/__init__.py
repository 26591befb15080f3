"""Charts and tables of a campaign as files for a paper, a thesis or slides."""
