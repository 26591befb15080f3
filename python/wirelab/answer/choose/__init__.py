"""Which protocol a device should speak over its link: `wirelab choose`."""
