import type { DecimalText, Model, Surcharge } from '../catalogue.ts'

/** A surcharge that applies to one call, frozen with its prices. */
export type AppliedSurcharge =
  | { readonly name: string; readonly multiplier: DecimalText }
  /** Yuan for the call. */
  | { readonly name: string; readonly perCall: DecimalText }

/** Surcharges of a model that what a call asks for comes under; in the model's order, each once. */
export function surchargesOf(
  { surcharges }: Pick<Model, 'surcharges'>,
  asked: readonly string[],
): readonly AppliedSurcharge[] {
  if (asked.length === 0) return []
  return Object.entries(surcharges)
    .filter(([name]) => asked.some((extra) => comesUnder(extra, name)))
    .map(([name, surcharge]) => applied(name, surcharge))
}

function applied(name: string, surcharge: Surcharge): AppliedSurcharge {
  return surcharge.kind === 'multiplier'
    ? { name, multiplier: surcharge.multiplier }
    : { name, perCall: surcharge.perCall }
}

/** What a call asks for that its model refuses; undefined: nothing. */
export function findRefused({ refuse }: Pick<Model, 'refuse'>, asked: readonly string[]): string | undefined {
  return asked.find((extra) => refuse.some((name) => comesUnder(extra, name)))
}

/** What a call asks for that its vendor is known to charge for, and the model neither prices nor refuses. */
export function findUnpriced(
  { surcharges }: Pick<Model, 'surcharges'>,
  asked: readonly string[],
  dear: readonly string[],
): string | undefined {
  const priced = Object.keys(surcharges)
  return asked.find(
    (extra) =>
      dear.some((name) => comesUnder(extra, name)) && !priced.some((name) => comesUnder(extra, name)),
  )
}

/** `service_tier.priority` comes under itself and under `service_tier`; a search of the web is one by any name, as is code that runs at the vendor. */
export function comesUnder(extra: string, name: string): boolean {
  const [asked, told] = [plainName(extra), plainName(name)]
  return asked === told || (!told.includes('.') && asked.startsWith(`${told}.`))
}

/** Of hosted tools by their canonical names, those the vendor charges for and the model gives no price. */
export function unpricedTools(
  model: Pick<Model, 'surcharges'>,
  tools: readonly string[],
  dear: readonly string[],
): readonly string[] {
  return tools.filter((tool) => findUnpriced(model, [tool.replaceAll('-', '_')], dear) !== undefined)
}

const OTHER_SEARCHES: ReadonlySet<string> = new Set(['file_search', 'tool_search'])

/** Vendors name one thing by the field that asks for it, the tool, or the item of the answer. */
function plainName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/_call$/, '')
    .replace(/^code_execution$/, 'code_interpreter')
  return /(^|_)search(_|$)/.test(plain) && !OTHER_SEARCHES.has(plain) ? 'web_search' : plain
}
