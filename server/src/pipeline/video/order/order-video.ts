import { orderChains } from '../../../core/routing/order.ts'
import type { Pipeline } from '../../context.ts'
import { healthFor } from '../../attempt/route.ts'
import type { Ordering } from './creation.ts'
import { openInputCache } from './prepare-inputs.ts'
import { sendOrder, type SendOrderParts } from './send-order.ts'
import type { ReservedVideo } from '../video-call.ts'

export type OrderVideoParts = SendOrderParts & Pick<Pipeline, 'draw' | 'health'>

/** How a video is ordered: over chains that speak video, its images prepared once for all of them. */
export function videoOrdering(pipeline: OrderVideoParts, order: ReservedVideo): Ordering {
  const inputs = openInputCache()
  return {
    pinned: order.pinned !== undefined,
    send: ({ open, leg }) => sendOrder(pipeline, { order, open, leg, inputs }),
    chainsOf: ({ model, funding }) =>
      orderChains(model, order.catalogue, {
        now: pipeline.now(),
        healthOf: healthFor(pipeline, funding),
        draw: pipeline.draw,
        mayUse: (vendor) => funding.otherwise !== 'none' || funding.byokVendors.includes(vendor),
        speaks: (protocol) => protocol === 'video',
        preferred: 'video',
        pinned: order.pinned,
      }),
  }
}
