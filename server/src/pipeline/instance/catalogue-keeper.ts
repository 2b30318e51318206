import type { Catalogue } from '../../core/catalogue.ts'
import type { ChainId } from '../../core/ids.ts'
import type { Pipeline, PipelineParts } from '../context.ts'
import { createRefresher } from './refresher.ts'

export interface CatalogueKeeper {
  readonly catalogue: () => Catalogue
  /** Resolves when `catalogue` shows all changes that were made before the call. */
  readonly refreshCatalogue: () => Promise<void>
  readonly stop: () => void
}

/** Reads the catalogue and again after each announced change; what is known of chains that it no longer has is forgotten. */
export async function keepCatalogue(
  { storage, telemetry }: Pick<PipelineParts, 'storage' | 'telemetry'>,
  { health, observations }: Pick<Pipeline, 'health' | 'observations'>,
): Promise<CatalogueKeeper> {
  let catalogue: Catalogue | undefined
  const { refresh, refreshLater, stop } = createRefresher(
    async () => {
      catalogue = await storage.catalogue.read()
      const ids = chainIdsOf(catalogue)
      health.keepOnly(ids)
      observations.keepOnly(ids)
    },
    (error) => telemetry.log.error({ error }, 'the catalogue could not be read again; it is tried once more'),
  )
  // Before the first read: a change that is made meanwhile is announced, and read too.
  const unsubscribe = storage.subscribe(({ kind }) => {
    if (kind === 'catalogue' || kind === 'everything') refreshLater()
  })
  await refresh()
  return {
    catalogue: () => {
      if (catalogue === undefined) throw new Error('the catalogue was not read')
      return catalogue
    },
    refreshCatalogue: refresh,
    stop: () => {
      unsubscribe()
      stop()
    },
  }
}

function chainIdsOf({ models }: Catalogue): ReadonlySet<ChainId> {
  return new Set([...models.values()].flatMap((model) => model.chains.map((chain) => chain.id)))
}
