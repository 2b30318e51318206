import type { Provider } from '../provider.ts'
import { lumaDreamMachineVideo } from './dream-machine.ts'
import { lumaDreamMachineImages, lumaImages } from './images.ts'
import { lumaVideo } from './video.ts'

/** The Agents API, for new users. */
export const luma: Provider = {
  kind: 'luma',
  name: 'Luma',
  defaultBaseUrl: 'https://agents.lumalabs.ai/v1',
  publicFields: [],
  dialects: { images: lumaImages },
  video: lumaVideo,
}

/** The older API, for existing keys and models; a separate kind because it accepts images by address only. */
export const lumaDreamMachine: Provider = {
  kind: 'luma-dream-machine',
  name: 'Luma Dream Machine',
  defaultBaseUrl: 'https://api.lumalabs.ai/dream-machine/v1',
  publicFields: [],
  dialects: { images: lumaDreamMachineImages },
  video: lumaDreamMachineVideo,
}
