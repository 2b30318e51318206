/** What an operator is told, and by whom it is known. */
import type { Pipeline } from '../../pipeline/context.ts'
import { type TroubledChain, viewHealth } from '../chain-health.ts'

type OpsSourceParts = Pick<Pipeline, 'catalogue' | 'health' | 'now' | 'storage' | 'telemetry'>

/** `not responding`: of several processes none answers. */
export type Readiness = 'ready' | 'draining' | 'storage unavailable' | 'not responding'

/** Who answers the operator: one process, or several that serve the same addresses. */
export interface OpsSource {
  readiness(): Promise<Readiness>
  /** Prometheus text form. */
  metrics(): Promise<string>
  /** Chains that are not healthy by what calls met lately. */
  troubledChains(): Promise<readonly TroubledChain[]>
}

/** Ready: the storage answers and takes what is written, and the process is not on its way out. */
export function gatewayOps(
  pipeline: OpsSourceParts,
  state: { readonly draining: () => boolean; readonly canWrite: () => boolean },
): OpsSource {
  return {
    async readiness() {
      if (state.draining()) return 'draining'
      if (!state.canWrite()) return 'storage unavailable'
      try {
        await pipeline.storage.ping()
        return 'ready'
      } catch (error) {
        pipeline.telemetry.log.warn({ error }, 'the storage does not answer the readiness check')
        return 'storage unavailable'
      }
    },
    metrics: () => pipeline.telemetry.metrics.render(),
    troubledChains: () => {
      const chains = [...pipeline.catalogue().models.values()].flatMap((model) => model.chains)
      const told = chains.map((chain) => ({
        chain_id: chain.id,
        ...viewHealth(pipeline.health.of(chain), pipeline.now()),
      }))
      return Promise.resolve(told.filter(({ state }) => state !== 'healthy'))
    },
  }
}
