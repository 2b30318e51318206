/** Style of the reference page, for wide and narrow screens, light and dark. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: light-dark(#0b6b6b, #5cc8c0); --faint: light-dark(#5a6169, #a2abb4); }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 80rem; overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem; }
h2, details { scroll-margin-top: 4rem; }
h3 { font-size: .85rem; margin: .8rem 0 .2rem; color: var(--faint); }
#bar { position: sticky; top: 0; margin: 0; padding: .6rem 0; background: Canvas; z-index: 1; display: flex; gap: .8rem; align-items: center; }
#find { font: inherit; flex: 1; min-width: 0; padding: .45rem .7rem; border: 1px solid var(--line); border-radius: 8px; background: Field; color: FieldText; }
output:empty { display: none; } [hidden] { display: none !important; }
nav ul { list-style: none; margin: .2rem 0 1rem; padding: 0; } nav a { display: block; padding: .2rem 0; text-decoration: none; }
#contents > summary { padding: .4rem 0; font-weight: 600; }
main details { border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0; }
summary { cursor: pointer; }
main summary { padding: .45rem .7rem; display: flex; gap: .1rem .7rem; flex-wrap: wrap; align-items: baseline; }
main details > div { padding: 0 .7rem .8rem; }
main summary b { font: 600 .8rem ui-monospace, monospace; min-width: 3.4rem; } kbd { font: .85rem ui-monospace, monospace; } main summary span { color: var(--faint); }
em { font-style: normal; font-size: .78rem; border: 1px solid var(--line); border-radius: 4px; padding: 0 .35rem; margin-left: auto; color: var(--faint); }
code, pre { font: .82rem/1.55 ui-monospace, monospace; } code { background: var(--soft); padding: 0 .2em; border-radius: 3px; }
pre { background: var(--soft); padding: .6rem .7rem; border-radius: 8px; margin: 0; white-space: pre-wrap; }
b { font-weight: 600; } i { font-style: normal; } s { text-decoration: none; color: var(--faint); font-family: system-ui, sans-serif; }
@media (min-width: 60rem) { #page { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 2rem; }
nav { position: sticky; top: 3.6rem; max-height: calc(100vh - 4rem); overflow: auto; align-self: start; } }
`
