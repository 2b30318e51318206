import type { Catalogue, Chain, Model } from '../../../core/catalogue.ts'
import { CommandFailure } from '../../exit-codes.ts'

export interface PlacedChain {
  readonly model: Model
  readonly chain: Chain
}

export function chainsOf(catalogue: Catalogue): readonly PlacedChain[] {
  return [...catalogue.models.values()].flatMap((model) => model.chains.map((chain) => ({ model, chain })))
}

/** By its number, as lists and logs show it. */
export function requireChain(catalogue: Catalogue, reference: string): PlacedChain {
  const found = chainsOf(catalogue).find(({ chain }) => String(chain.id) === reference.trim())
  if (found !== undefined) return found
  throw new CommandFailure(
    'missing',
    `there is no chain ${reference}: sluice chains list shows their numbers`,
  )
}
