// Puts the page's data into its panes and wires them together.
"use strict";

function drawHeader(data) {
  document.title = `${data.name} – constrain inspect`;
  $("name").textContent = data.name;
  const tokens = data.canonical ? "canonical tokens" : "any tokens";
  $("about").textContent = `${data.dialect}, start ${data.start}; engine ${data.kind}` +
    (data.vocabulary ? `; ${tokens}` : "");
}

function start() {
  const data = JSON.parse($("data").textContent);
  const inspector = new Inspector(data);
  const reading = new Reading(inspector, () => show(), () => showPlace());
  const links = new Links(), address = new Address(reading);

  drawHeader(data);
  const grammar = new GrammarPane(data.grammar, links);
  new RailroadPane(data.grammar.railroads, links);
  const automaton = new AutomatonPane(data, reading, links);
  new NumbersPane(data);
  const text = new TextPane(data, reading);
  const tokens = new TokensPane(reading);
  const mask = new MaskPane(data, reading, () => address.keep());

  function show() {
    text.draw();
    showPlace();
    if (inspector.walk) light(reading.current);
  }

  function showPlace() {
    tokens.draw();
    mask.draw();
    address.keep();
  }

  function light(conf) {
    grammar.light(automaton.light(inspector.walk.lit(conf)));
  }

  text.whenPointed(light);
  if (!address.restore()) reading.write(data.examples.length ? data.examples[0].text : "");
}

start();
