import { soraVideo } from '../video-forms/sora.ts'

export const openaiCompatibleVideo = soraVideo({ upstream: 'imitation' })
