import type { Estimate } from '../../../core/ledger/operations.ts'
import type { Catalogue, Chain, Model } from '../../../core/catalogue.ts'
import { ERRORS } from '../../../core/errors/catalogue.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { usableChains } from '../../../core/routing/order.ts'
import { declaredSeconds, orderSeconds } from '../../../core/video/seconds.ts'
import { admitBy, meantInstead } from '../../stages/admit.ts'
import type { Pipeline } from '../../context.ts'
import { demandVendors } from '../../instance/chains/own-credentials.ts'
import { isVideoChain, isVideoModel } from '../../instance/model-facts.ts'
import type { AdmittedVideo, VideoOrder } from '../video-call.ts'
import { videoDialectOf } from '../task/video-vendor.ts'

/** Finds the model and says what the order demands of the account; `reserve` judges it on the account's fresh row. */
export function admitVideo(
  pipeline: Pick<Pipeline, 'catalogue' | 'models'>,
  order: VideoOrder,
): AdmittedVideo {
  const catalogue = pipeline.catalogue()
  const admitted = admitBy(order, {
    catalogue,
    find: () => findVideoModel(order, catalogue),
    canStandIn: isVideoModel,
    demand(model) {
      const chains = candidates(order, model, catalogue)
      return {
        ...demandVendors(chains, catalogue),
        terms: pipeline.models.terms(model, catalogue),
        estimate: estimateOf(secondsMax(order, chains, catalogue)),
      }
    },
  })
  return { ...admitted, secondsDeclared: declaredSeconds(order.request.seconds) }
}

function findVideoModel(order: VideoOrder, catalogue: Catalogue): Model {
  const model = catalogue.models.get(order.modelId)
  if (model?.status === 'enabled' && isVideoModel(model)) return model
  const hint = model === undefined ? meantInstead(order.modelId, catalogue) : ''
  throw new GatewayError(40401, {
    ...(hint === '' ? {} : { message: `${ERRORS[40401].message}${hint}` }),
    internal: model === undefined ? 'unknown model' : `the model is ${model.status}`,
  })
}

/** Declared seconds cost what they cost: nothing about the hold is a guess. */
function estimateOf(videoSeconds: number): Estimate {
  return {
    inputTokens: 0,
    outputTokens: 0,
    images: 0,
    videoSeconds,
    bound: 'strict',
    worstInputTokens: 0,
    worstOutputTokens: 0,
  }
}

function candidates(order: VideoOrder, model: Model, catalogue: Catalogue): readonly Chain[] {
  return usableChains(model, catalogue).filter(
    (chain) => isVideoChain(chain) && (order.pinned === undefined || chain.vendorCode === order.pinned),
  )
}

/** The declared length, else the longest that any chain would make by itself. */
function secondsMax(order: VideoOrder, chains: readonly Chain[], catalogue: Catalogue): number {
  const text = order.request.seconds
  const declared = declaredSeconds(text)
  if (declared !== undefined) return declared
  const lengths = chains.map((chain) => {
    const dialect = videoDialectOf(chain, catalogue)
    return dialect === undefined
      ? 0
      : orderSeconds(text, dialect.defaultSeconds(chain.forwardModelId, order.request)).billed
  })
  return Math.max(0, ...lengths)
}
