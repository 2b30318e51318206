import type { DecimalText, Model, Surcharge } from '../catalogue.ts'
import { TOOL_USES_MAX } from '../metering/possible-usage.ts'
import type { ToldExtras } from '../metering/reported-extras.ts'

/** What a surcharge costs: it multiplies the whole call, or is added for each use. */
type SurchargePrice =
  | { readonly name: string; readonly multiplier: DecimalText }
  | { readonly name: string; readonly perCall: DecimalText }

/** A surcharge of a model, frozen into a call with what the call asked for. */
export type FrozenSurcharge = SurchargePrice & {
  /** The call did not request it, but its answer may report it all the same. Absent: it did. */
  readonly asked?: false
  /** How often the call may use it at most; absent: once. */
  readonly usesMax?: number
}

/** A surcharge that is part of a call's price. */
export type AppliedSurcharge =
  | { readonly name: string; readonly multiplier: DecimalText }
  /** For each of `count` uses; absent: one. */
  | { readonly name: string; readonly perCall: DecimalText; readonly count?: number }

/** What is known about an answer for its surcharges. */
export interface MadeExtras {
  /** undefined: nothing is known about the answer. */
  readonly told: ToldExtras | undefined
  /** The extras that were requested and sent upstream; undefined: all of them. */
  readonly sent: readonly string[] | undefined
  /** `cut`: the gateway stopped it while the vendor was working. `broken`: the vendor broke off. */
  readonly extent: 'whole' | 'cut' | 'broken'
}

/** All surcharges of a model in its order; of several names for one thing only the first. */
export function freezeSurcharges(
  { surcharges }: Pick<Model, 'surcharges'>,
  asked: readonly string[],
  toolUsesMax: number,
): readonly FrozenSurcharge[] {
  const seen = new Set<string>()
  return Object.entries(surcharges).flatMap(([name, surcharge]) => {
    const thing = `${surcharge.kind} ${plainName(name)}`
    if (seen.has(thing)) return []
    seen.add(thing)
    const price = priceOf(name, surcharge)
    if (!asked.some((extra) => comesUnder(extra, name))) return [{ ...price, asked: false as const }]
    return [toolUsesMax > 1 && isCounted(price) ? { ...price, usesMax: toolUsesMax } : price]
  })
}

function priceOf(name: string, surcharge: Surcharge): SurchargePrice {
  return surcharge.kind === 'multiplier'
    ? { name, multiplier: surcharge.multiplier }
    : { name, perCall: surcharge.perCall }
}

function isCounted(price: SurchargePrice): boolean {
  return 'perCall' in price && !isField(price.name)
}

/** The surcharges of a call that are charged. */
export function chargedSurcharges(
  frozen: readonly FrozenSurcharge[],
  made: MadeExtras,
): readonly AppliedSurcharge[] {
  return frozen.flatMap((surcharge): readonly AppliedSurcharge[] => {
    const { name } = surcharge
    const count = countOf(surcharge, made)
    if (count === 0) return []
    return 'multiplier' in surcharge
      ? [{ name, multiplier: surcharge.multiplier }]
      : [{ name, perCall: surcharge.perCall, count }]
  })
}

/** A discount is never part of a hold, and is granted only if the answer reports it. */
export function isDiscount(surcharge: SurchargePrice): boolean {
  return 'multiplier' in surcharge && Number(surcharge.multiplier) < 1
}

function countOf(surcharge: FrozenSurcharge, made: MadeExtras): number {
  const asked = isAsked(surcharge, made.sent) && !isDiscount(surcharge) ? 1 : 0
  const { told } = made
  if (told === undefined) return asked
  return isField(surcharge.name)
    ? fieldCount(surcharge.name, { asked, told, extent: made.extent })
    : toolCount(surcharge.name, { asked, told, extent: made.extent })
}

function isAsked({ name, asked }: FrozenSurcharge, sent: MadeExtras['sent']): boolean {
  return asked !== false && (sent === undefined || sent.some((extra) => comesUnder(extra, name)))
}

interface Counting {
  /** 1: the call requested it. */
  readonly asked: 0 | 1
  readonly told: ToldExtras
  readonly extent: MadeExtras['extent']
}

/** The value the answer was made with decides; if the answer was cut, the more expensive one. */
function fieldCount(name: string, { asked, told, extent }: Counting): number {
  const field = fieldOf(name)
  const value = name.includes('.') ? told.fields.get(field) : undefined
  if (value === undefined) return asked
  const holds = comesUnder(`${field}.${value}`, name) ? 1 : 0
  return extent === 'cut' ? Math.max(asked, holds) : holds
}

/** The vendor's own count, else what the answer shows; if it cannot show it, a requested tool counts once. */
function toolCount(name: string, { asked, told, extent }: Counting): number {
  const used = usesUnder(name, told, extent)
  switch (extent) {
    case 'whole':
      if (used > 0 || isListed(name, told)) return used
      return asked
    case 'cut':
      return Math.max(used, asked)
    case 'broken':
      return used
  }
}

function usesUnder(name: string, { counted, seen }: ToldExtras, extent: MadeExtras['extent']): number {
  let uses = 0
  for (const tool of new Set([...counted.keys(), ...seen.keys()])) {
    if (!comesUnder(tool, name)) continue
    const shown = seen.get(tool) ?? 0
    const count = counted.get(tool)
    // The count of a cut answer may be lower than the uses it shows.
    uses += extent === 'whole' ? (count ?? shown) : Math.max(count ?? 0, shown)
  }
  return Math.min(uses, TOOL_USES_MAX)
}

function isListed(name: string, { counted, listed }: ToldExtras): boolean {
  return [...counted.keys(), ...listed].some((tool) => comesUnder(tool, name))
}

/** What a call asks for that its model refuses; undefined: nothing. */
export function findRefused({ refuse }: Pick<Model, 'refuse'>, asked: readonly string[]): string | undefined {
  return asked.find((extra) => refuse.some((name) => comesUnder(extra, name)))
}

/** What a call asks for that its vendor is known to charge for, and the model neither prices nor refuses. */
export function findUnpriced(
  { surcharges }: Pick<Model, 'surcharges'>,
  asked: readonly string[],
  extraCosts: readonly string[],
): string | undefined {
  const priced = Object.keys(surcharges)
  return asked.find(
    (extra) =>
      extraCosts.some((name) => comesUnder(extra, name)) && !priced.some((name) => comesUnder(extra, name)),
  )
}

/** Those of the hosted tools (canonical names) that the vendor charges for and the model has no price for. */
export function unpricedTools(
  model: Pick<Model, 'surcharges'>,
  tools: readonly string[],
  extraCosts: readonly string[],
): readonly string[] {
  return tools.filter((tool) => findUnpriced(model, [tool.replaceAll('-', '_')], extraCosts) !== undefined)
}

/**
 * `service_tier.priority` matches itself and `service_tier`; a field whose value could not be read matches every value
 * of it. All names for a web search match each other, and so do those for code that runs at the vendor.
 */
export function comesUnder(extra: string, name: string): boolean {
  const [asked, told] = [plainName(extra), plainName(name)]
  if (asked === told) return true
  return told.includes('.') ? asked === fieldOf(told) : asked.startsWith(`${told}.`)
}

/** Fields that apply to a whole call. Every other name is a tool that may be used any number of times. */
const FIELDS: ReadonlySet<string> = new Set(['service_tier', 'speed', 'inference_geo'])

function isField(name: string): boolean {
  return name.includes('.') || FIELDS.has(name.toLowerCase())
}

function fieldOf(name: string): string {
  return name.toLowerCase().split('.', 1)[0] ?? name
}

/** Synonyms: vendors use the name of the request field, of the tool, or of the answer's item. */
const SAME: Readonly<Record<string, string | undefined>> = {
  code_execution: 'code_interpreter',
  bash_code_execution: 'code_interpreter',
  text_editor_code_execution: 'code_interpreter',
  mcp_servers: 'mcp',
  mcp_toolset: 'mcp',
  mcp_tool_use: 'mcp',
  // The vendor renamed this tier; answers keep the old name.
  'service_tier.fast': 'service_tier.priority',
}

/** Searches of something other than the web. */
const OTHER_SEARCH = /^(file|memory|tool)_search/

function plainName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/_calls?$/, '')
    // Google's own spelling of the value.
    .replace(/^service_tier\.service_tier_/, 'service_tier.')
  if (/(^|_)search(_|$)/.test(plain) && !OTHER_SEARCH.test(plain)) return 'web_search'
  return (Object.hasOwn(SAME, plain) ? SAME[plain] : undefined) ?? plain
}
