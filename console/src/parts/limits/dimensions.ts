import { useTranslation } from '../../texts/use-translation.ts'

/** The dimensions that a window can count. */
export const DIMENSIONS = [
  'requests',
  'tokens',
  'amount',
  'images',
  'videos',
  'video_seconds',
  'characters',
  'audio_seconds',
] as const
export type Dimension = (typeof DIMENSIONS)[number]

export function dimensionOf(name: string): Dimension | undefined {
  return DIMENSIONS.find((each) => each === name)
}

/** The name of a dimension; an unknown one, of a newer gateway, is shown as it is. */
export function useDimensionName(): (name: string) => string {
  const { t } = useTranslation()
  return (name) => {
    const known = dimensionOf(name)
    return known === undefined ? name : t(`dimensions.${known}`)
  }
}
