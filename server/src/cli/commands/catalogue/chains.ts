import { readConfig } from '../../../config/environment.ts'
import type { Catalogue, Status } from '../../../core/catalogue.ts'
import type { ChainId } from '../../../core/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { HEALTHY } from '../../../core/routing/health.ts'
import { usableChains } from '../../../core/routing/order.ts'
import { type Probe, probeChain } from '../../../pipeline/explain/probe.ts'
import { vendorKinds } from '../../../pipeline/instance/chains/vendor-kinds.ts'
import { viewHealth } from '../../../http/chain-health.ts'
import { viewProbe } from '../../../http/management/routes/admin/catalogue/view-probe.ts'
import { type ChainRecent, NOTHING_RECENT, readChainRecent } from '../../../management/admin/chain-recent.ts'
import { editCatalogue } from '../../../management/admin/edit-catalogue.ts'
import { missingPrice } from '../../../management/admin/usable-price.ts'
import { chainForm } from '../../../management/gateway-file/forms.ts'
import type { Storage } from '../../../storage/storage.ts'
import { createFindProxy } from '../../../upstream/connect/find-proxy.ts'
import { openUpstream } from '../../../upstream/send.ts'
import { askRunning } from '../../ask-running.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText, plural, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { chainsOf, type PlacedChain, requireChain } from './find-chain.ts'
import { withStorage } from '../../with-storage.ts'
import type { OutputFlags } from '../accounts/accounts.ts'

/** Lists chains with their health: from the log of the last hour, and from a gateway running here. */
export async function chainsList(io: Console, flags: OutputFlags): Promise<void> {
  const { catalogue, recent } = await withStorage(io, 'refuse', async (storage) => ({
    catalogue: await storage.catalogue.read(),
    recent: await readChainRecent(storage, io.now()),
  }))
  const troubled = await askTroubled(io)
  const rows = chainsOf(catalogue).map((placed) => rowOf(placed, { catalogue, recent, troubled }))
  if (flags.json === true) io.out(jsonText(rows))
  else io.out(tableText(HEAD, rows.map(cells)))
  if (troubled === undefined)
    io.err(
      'no gateway answers on the ops port of this environment: health is unknown, and the last hour is read from the log\n',
    )
}

/** Unhealthy chains by their number; undefined: no gateway is running here. */
async function askTroubled(io: Console): Promise<ReadonlyMap<string, JsonObject> | undefined> {
  const config = readConfig(io.environment, io.workingDirectory)
  const answer = await askRunning(config, '/chains')
  const list = answer?.body['troubled']
  if (!Array.isArray(list)) return undefined
  const told: readonly JsonValue[] = list
  return new Map(
    told.flatMap((one) => (isJsonObject(one) ? [[textOf(one['chain_id']) ?? '', one] as const] : [])),
  )
}

interface Known {
  readonly catalogue: Catalogue
  readonly recent: ReadonlyMap<ChainId, ChainRecent>
  readonly troubled: ReadonlyMap<string, JsonObject> | undefined
}

interface ChainRow extends JsonObject {
  readonly id: number
  readonly model_id: string
  readonly status: string
  readonly usable: boolean
  readonly health: JsonValue
}

const WELL: JsonObject = { ...viewHealth(HEALTHY, 0), last_error: null }

function rowOf({ model, chain }: PlacedChain, { catalogue, recent, troubled }: Known): ChainRow {
  const credential = catalogue.credentials.get(chain.credentialId)?.name ?? ''
  return {
    ...chainForm(chain, credential),
    id: chain.id,
    model_id: model.modelId,
    status: chain.status,
    usable: model.status === 'enabled' && usableChains(model, catalogue).includes(chain),
    health: troubled === undefined ? null : (troubled.get(String(chain.id)) ?? WELL),
    recent: { ...(recent.get(chain.id) ?? NOTHING_RECENT) },
  }
}

const HEAD = [
  'CHAIN',
  'MODEL',
  'VENDOR',
  'CREDENTIAL',
  'PROTOCOL',
  'PRIORITY',
  'WEIGHT',
  'STATUS',
  'HEALTH',
  'LAST HOUR',
  'FIRST BYTE',
]

function cells(row: ChainRow): readonly (string | number | undefined)[] {
  const recent = isJsonObject(row['recent']) ? row['recent'] : {}
  const attempts = Number(recent['attempts'] ?? 0)
  const median = recent['first_byte_ms_median']
  return [
    row.id,
    row.model_id,
    textOf(row['vendor']),
    textOf(row['credential']),
    textOf(row['protocol']),
    textOf(row['priority']),
    textOf(row['weight']),
    row.usable || row.status !== 'enabled' ? row.status : 'not usable',
    healthText(row.health),
    attempts === 0 ? undefined : `${plural(attempts, 'attempt')}, ${textOf(recent['failed']) ?? 0} failed`,
    typeof median === 'number' ? `${median} ms` : undefined,
  ]
}

function healthText(health: JsonValue): string | undefined {
  if (!isJsonObject(health)) return undefined
  const until = health['cooling_until']
  const state = textOf(health['state']) ?? 'unknown'
  const timed = typeof until === 'string' ? `${state} until ${until}` : state
  const error = health['last_error']
  if (!isJsonObject(error)) return timed
  const told = [error['status'], error['code'] ?? error['kind'], error['message']].flatMap(
    (one) => textOf(one) ?? [],
  )
  return `${timed}: ${told.join(' ').slice(0, WHY_CHARACTERS_MAX)}`
}

/** A table's cell; `--json` has all of it. */
const WHY_CHARACTERS_MAX = 80

export interface ChainTestFlags {
  readonly all?: boolean
  readonly json?: boolean
}

/** One real, cheap call each, one after the other; it belongs to no account, so it is not charged and not logged. */
export async function chainsTest(
  io: Console,
  references: readonly string[],
  flags: ChainTestFlags,
): Promise<void> {
  if ((references.length === 0) !== (flags.all === true))
    throw new CommandFailure('mistakes', 'name the chains to test, or --all for every one that is enabled')
  const catalogue = await withStorage(io, 'refuse', (storage) => storage.catalogue.read())
  const targets =
    flags.all === true
      ? chainsOf(catalogue).filter(({ model, chain }) => usableChains(model, catalogue).includes(chain))
      : references.map((reference) => requireChain(catalogue, reference))
  const probes = await probeAll(io, catalogue, targets)
  const views = probes.map(({ placed, probe }) => ({
    model_id: placed.model.modelId,
    ...viewProbe(placed.chain, probe),
  }))
  if (flags.json === true) io.out(jsonText(views))
  else {
    const rows = views.map((view) => [
      view.chain_id,
      view.model_id,
      view.outcome,
      view.status ?? undefined,
      view.duration_ms ?? undefined,
      view.message ?? undefined,
    ])
    io.out(tableText(['CHAIN', 'MODEL', 'OUTCOME', 'STATUS', 'MS', 'MESSAGE'], rows))
  }
  const failed = probes.filter(({ probe }) => probe.kind === 'refused' || probe.kind === 'unreachable').length
  if (failed > 0) throw new CommandFailure('failed', `${plural(failed, 'chain')} failed the test`)
}

export async function probeAll(
  io: Console,
  catalogue: Catalogue,
  targets: readonly PlacedChain[],
): Promise<readonly { readonly placed: PlacedChain; readonly probe: Probe }[]> {
  const findProxy = createFindProxy(readConfig(io.environment, io.workingDirectory))
  const upstream = openUpstream({ findProxy })
  try {
    const probes: { readonly placed: PlacedChain; readonly probe: Probe }[] = []
    for (const placed of targets) {
      const probe = await probeChain({ catalogue: () => catalogue, upstream, now: io.now }, placed)
      probes.push({ placed, probe })
    }
    return probes
  } finally {
    await upstream.close()
  }
}

interface ChainSwitch extends OutputFlags {
  readonly verb: string
  readonly status: Status
}

/** As the console's buttons do, with an entry in the audit log; running gateways act on it within a second. */
export async function chainsSwitch(
  io: Console,
  reference: string,
  { verb, status, json }: ChainSwitch,
): Promise<void> {
  const { model, chain } = await withStorage(io, 'refuse', async (storage) => {
    const catalogue = await storage.catalogue.read()
    const placed = requireChain(catalogue, reference)
    const why = status === 'enabled' ? missingPrice(placed.model.pricing, placed.chain.protocol) : undefined
    if (why !== undefined) throw new CommandFailure('mistakes', `this chain cannot be enabled: ${why.text}`)
    await switchChain(io, storage, { catalogue, placed, verb, status })
    return placed
  })
  if (json === true) io.out(jsonText({ id: chain.id, model_id: model.modelId, status }))
  else io.err(`chain ${chain.id} (${model.modelId} over ${chain.vendorCode}) is ${STATUS_WORDS[status]}\n`)
}

const STATUS_WORDS: Readonly<Record<Status, string>> = {
  enabled: 'enabled',
  disabled: 'disabled; running calls end as they would',
  maintenance: 'under maintenance: no call is sent over it, running ones end as they would',
}

async function switchChain(
  io: Console,
  storage: Storage,
  {
    catalogue,
    placed: { model, chain },
    verb,
    status,
  }: {
    readonly catalogue: Catalogue
    readonly placed: PlacedChain
    readonly verb: string
    readonly status: Status
  },
): Promise<void> {
  const form = chainForm(chain, catalogue.credentials.get(chain.credentialId)?.name ?? '')
  const edited = await editCatalogue(
    { storage, kinds: vendorKinds },
    {
      base: catalogue,
      fragment: {
        models: [{ model_id: model.modelId, status: model.status, chains: [{ ...form, status }] }],
      },
      prefix: 'models[0].chains[0]',
      action: `chain.${verb}`,
      subject: String(chain.id),
    },
    commandLineActor(io),
  )
  if (edited.kind === 'mistakes')
    throw new CommandFailure(
      'mistakes',
      edited.mistakes.map(({ path, message }) => `${path} ${message.text}`).join('\n'),
    )
  if (edited.kind === 'conflict') throw new CommandFailure('mistakes', edited.message.text)
}

/** Ends a chain's cooldown on every gateway. */
export async function chainsReset(io: Console, reference: string, flags: OutputFlags): Promise<void> {
  const id = await withStorage(io, 'refuse', async (storage) => {
    const { chain } = requireChain(await storage.catalogue.read(), reference)
    const actor = commandLineActor(io)
    await storage.audit.act(() =>
      Promise.resolve({
        value: undefined,
        act: {
          at: actor.at,
          actor,
          action: 'chain.reset',
          subject: String(chain.id),
          changes: [{ field: 'health', from: null, to: 'healthy' }],
        },
        announce: [{ kind: 'chain', chainId: chain.id }],
      }),
    )
    return chain.id
  })
  if (flags.json === true) io.out(jsonText({ id, health: 'healthy' }))
  else io.err(`chain ${id} is tried again with the next call\n`)
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
