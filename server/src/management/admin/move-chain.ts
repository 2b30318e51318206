/** Changes a chain's credential (of the same vendor) or its upstream model, keeping its row. */
import { say } from '../../core/sentences/say.ts'
import type { Catalogue, Chain, Credential } from '../../core/catalogue.ts'
import { type ChainId, forwardModelId } from '../../core/ids.ts'
import type { CatalogueChange } from '../../storage/stores/records.ts'
import type { Difference } from '../gateway-file/difference.ts'
import { done, type Done } from './acts.ts'

export interface ChainMove {
  readonly id: ChainId
  /** Name of a credential of the chain's vendor; absent: unchanged. */
  readonly credential?: string | undefined
  readonly forwardModelId?: string | undefined
}

export interface PlannedMove {
  /** The catalogue after the move. */
  readonly known: Catalogue
  /** Written before everything else, even if nothing is moved, so that a concurrent move is detected. */
  readonly change: CatalogueChange
  /** undefined: nothing is moved. */
  readonly difference: Difference | undefined
}

export function planMove(known: Catalogue, move: ChainMove): Done<PlannedMove> {
  const { id } = move
  const model = [...known.models.values()].find(({ chains }) => chains.some((chain) => chain.id === id))
  const chain = model?.chains.find((one) => one.id === id)
  const old = chain === undefined ? undefined : known.credentials.get(chain.credentialId)
  if (model === undefined || chain === undefined || old === undefined) return { kind: 'missing' }
  const credential = findCredential(known, chain, move.credential ?? old.name)
  if (credential === undefined) return unknownCredential(known, chain)
  const moved: Chain = {
    ...chain,
    credentialId: credential.id,
    forwardModelId:
      move.forwardModelId === undefined ? chain.forwardModelId : forwardModelId(move.forwardModelId),
  }
  const clash = model.chains.find((one) => one.id !== id && isSamePlace(one, moved))
  if (clash !== undefined)
    return { kind: 'conflict', message: say('chain-exists', { id: clash.id, modelId: model.modelId }) }
  const from = { credentialName: old.name, forwardModelId: chain.forwardModelId }
  const to = { credentialName: credential.name, forwardModelId: moved.forwardModelId }
  const chains = model.chains.map((one) => (one.id === id ? moved : one))
  return done({
    known: { ...known, models: new Map(known.models).set(model.modelId, { ...model, chains }) },
    change: { kind: 'move-chain', id, vendorCode: chain.vendorCode, from, to },
    difference: isSamePlace(chain, moved) ? undefined : differenceOf(id, from, to),
  })
}

function findCredential(known: Catalogue, { vendorCode }: Chain, name: string): Credential | undefined {
  return [...known.credentials.values()].find((one) => one.vendorCode === vendorCode && one.name === name)
}

function unknownCredential(known: Catalogue, { vendorCode }: Chain): Done<never> {
  const names = [...known.credentials.values()]
    .filter((one) => one.vendorCode === vendorCode)
    .map((one) => one.name)
  const message = say('credential-of-vendor-unknown', { vendorCode, names: names.join(', ') })
  return { kind: 'mistakes', mistakes: [{ path: 'credential', message }] }
}

function isSamePlace(one: Chain, other: Chain): boolean {
  return (
    one.vendorCode === other.vendorCode &&
    one.credentialId === other.credentialId &&
    one.protocol === other.protocol &&
    one.forwardModelId === other.forwardModelId
  )
}

type Place = Extract<CatalogueChange, { readonly kind: 'move-chain' }>['from']

function differenceOf(id: ChainId, from: Place, to: Place): Difference {
  const fields = [
    { field: 'credential', from: from.credentialName, to: to.credentialName },
    { field: 'forward_model_id', from: from.forwardModelId, to: to.forwardModelId },
  ].filter((field) => field.from !== field.to)
  return { action: 'change', what: 'chain', name: String(id), fields }
}
