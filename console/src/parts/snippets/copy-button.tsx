import { ActionIcon, Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Icon } from '../marks/icon.tsx'
import { Tip } from '../page/tip.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

interface CopyProps {
  readonly value: string
  /** What is copied, for screen readers. */
  readonly label: string
}

/** Ms for which the button confirms the copy. */
const TOLD_MS = 1_500

export function CopyIcon({ value, label, size }: CopyProps & { readonly size?: 'sm' }) {
  const { t } = useTranslation()
  const { copy, copied } = useClipboard({ timeout: TOLD_MS })
  const text = copied ? t('copied') : label
  return (
    <Tip label={text}>
      <ActionIcon aria-label={text} onClick={() => copy(value)} {...(size === undefined ? {} : { size })}>
        <Icon name={copied ? 'check' : 'copy'} />
      </ActionIcon>
    </Tip>
  )
}

export function CopyButton({
  value,
  label,
  variant = 'default',
}: CopyProps & { readonly variant?: 'filled' | 'default' }) {
  const { t } = useTranslation()
  const { copy, copied } = useClipboard({ timeout: TOLD_MS })
  return (
    <Button
      variant={variant}
      onClick={() => copy(value)}
      leftSection={<Icon name={copied ? 'check' : 'copy'} size={14} />}
    >
      {copied ? t('copied') : label}
    </Button>
  )
}
