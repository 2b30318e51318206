import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { Icon } from '../marks/icon.tsx'
import { Tip } from './tip.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Switches between light and dark; the system's theme is used until it is pressed. */
export function ThemeButton() {
  const { t } = useTranslation()
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const shown = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const label = t(shown === 'dark' ? 'frame.lightTheme' : 'frame.darkTheme')
  return (
    <Tip label={label}>
      <ActionIcon aria-label={label} onClick={() => setColorScheme(shown === 'dark' ? 'light' : 'dark')}>
        <Icon name={shown === 'dark' ? 'sun' : 'moon'} />
      </ActionIcon>
    </Tip>
  )
}
