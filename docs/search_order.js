// The order of what a search finds: guides before decisions and changes; the other numbers are those of Sphinx.
var Scorer = {
  score: ([page, title, anchor, text, score]) => (/^(docs\/adr\/|CHANGELOG)/.test(page) ? score - 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
