/** What is known of a call when it is reserved, kept with its open row so that recovery can write its log row. */
import { type CallId, type VendorCode, vendorCode } from '../ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { type Kept, ONE_CALL, type Pieces } from '../metering/quantities.ts'

/** It goes into the log row however the call ends. Only the pieces that differ from one plain call are kept. */
export interface CallDescription extends Kept<Pieces> {
  readonly requestId: string
  /** Epoch ms. */
  readonly createdAt: number
  readonly endpoint: string
  readonly clientProtocol: string
  readonly modelRequested: string | undefined
  readonly stream: boolean
  readonly user: string | undefined
  readonly appId: string | undefined
  readonly customId: string | undefined
  readonly secondsDeclared?: number | undefined
  /** Chain id → vendor, so that a recovered row can name it. */
  readonly chains?: Readonly<Record<string, DescribedChain>> | undefined
}

export interface DescribedChain {
  readonly vendorCode: VendorCode
  readonly upstreamProtocol: string
}

export function encodeDescription(description: CallDescription): string {
  return JSON.stringify(description)
}

/** Reads a description back; of a damaged one, whatever can be read, because losing the charge would be worse. */
export function decodeDescription(
  text: string,
  call: { readonly callId: CallId; readonly startedAt: number },
): CallDescription {
  const parsed = parseObject(text)
  return {
    requestId: textOf(parsed['requestId']) ?? call.callId,
    createdAt: numberOf(parsed['createdAt']) ?? call.startedAt,
    endpoint: textOf(parsed['endpoint']) ?? '',
    clientProtocol: textOf(parsed['clientProtocol']) ?? '',
    modelRequested: textOf(parsed['modelRequested']),
    stream: parsed['stream'] === true,
    user: textOf(parsed['user']),
    appId: textOf(parsed['appId']),
    customId: textOf(parsed['customId']),
    secondsDeclared: numberOf(parsed['secondsDeclared']),
    ...keptPieces(parsed),
    chains: chainsOf(parsed['chains']),
  }
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

const textOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined
const numberOf = (value: JsonValue | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined

/** Under the names of the release that wrote them. */
const keptPieces = (parsed: JsonObject): Kept<Pieces> =>
  Object.fromEntries(Object.keys(ONE_CALL).map((name) => [name, numberOf(parsed[name])]))

function chainsOf(value: JsonValue | undefined): CallDescription['chains'] {
  if (!isJsonObject(value)) return undefined
  const chains: Record<string, DescribedChain> = {}
  for (const [id, chain] of Object.entries(value)) {
    if (!isJsonObject(chain)) continue
    const vendor = textOf(chain['vendorCode'])
    const upstreamProtocol = textOf(chain['upstreamProtocol'])
    if (vendor !== undefined && upstreamProtocol !== undefined) {
      chains[id] = { vendorCode: vendorCode(vendor), upstreamProtocol }
    }
  }
  return chains
}
