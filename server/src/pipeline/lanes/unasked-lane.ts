import type { Lane } from './lane.ts'

/** For a client that disconnected while the request was built: an exchange without a client sends nothing. */
export const UNASKED_LANE: Lane = {
  body: [],
  bodyLength: 0,
  dropped: [],
  inputEstimated: () => false,
  openStream: unasked,
  openWhole: unasked,
}

function unasked(): never {
  throw new Error('an answer came to a request that was never sent')
}
