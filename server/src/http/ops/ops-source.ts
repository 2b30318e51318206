/** What the operator's port reports, and where it comes from. */
import type { Pipeline } from '../../pipeline/context.ts'
import { type TroubledChain, viewHealth } from '../chain-health.ts'

type OpsSourceParts = Pick<Pipeline, 'catalogue' | 'health' | 'now' | 'storage' | 'telemetry'>

/** `not responding`: none of several processes answers. */
export type Readiness = 'ready' | 'draining' | 'storage unavailable' | 'not responding'

/** The source of the answers: one process, or several that serve the same addresses. */
export interface OpsSource {
  readiness(): Promise<Readiness>
  /** Prometheus text form. */
  metrics(): Promise<string>
  /** Chains that are not healthy according to recent calls. */
  troubledChains(): Promise<readonly TroubledChain[]>
}

/** Ready: the storage answers and accepts writes, and the process is not shutting down. */
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
