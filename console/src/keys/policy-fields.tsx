import { ActionIcon, Button, NumberInput, Select } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../parts/format.ts'
import styles from '../parts/form.module.css'
import { Icon } from '../parts/icon.tsx'
import { DIMENSIONS } from './dimensions.ts'
import keys from './keys.module.css'
import type { KeyFormOf } from './key-form-of.ts'

/** A minute, an hour, five hours, a day, a week, thirty days. */
const PERIODS = [60, 3_600, 18_000, 86_400, 604_800, 2_592_000] as const

/** How much in which time; each dimension says what it counts. */
export function PolicyFields({ form }: { readonly form: KeyFormOf }) {
  const { t } = useTranslation()
  const { windows } = form.values.policy
  return (
    <>
      <NumberInput
        label={t('keys.atOnce')}
        description={t('keys.atOnceHint')}
        placeholder={t('keys.anyNumber')}
        min={1}
        allowDecimal={false}
        thousandSeparator=" "
        {...form.getInputProps('policy.concurrency')}
      />
      {windows.length > 0 && <p className={styles.hint}>{t('keys.windowsHint')}</p>}
      <div className={keys.windows}>
        {windows.map((_, index) => (
          <WindowFields key={index} form={form} index={index} />
        ))}
      </div>
      <div>
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() =>
            form.insertListItem('policy.windows', { dimension: 'amount', limit: '', seconds: '2592000' })
          }
        >
          {t('keys.addWindow')}
        </Button>
      </div>
    </>
  )
}

interface WindowFieldsProps {
  readonly form: KeyFormOf
  readonly index: number
}

function WindowFields({ form, index }: WindowFieldsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const place = `policy.windows.${index}`
  const window = form.values.policy.windows[index]
  if (window === undefined) return null
  const periods = new Set<number>([...PERIODS, Number(window.seconds)])
  return (
    <div className={keys.window} role="group" aria-label={t('keys.windowNumber', { number: index + 1 })}>
      <Select
        aria-label={t('keys.counts')}
        data={DIMENSIONS.map((value) => ({ value, label: t(`dimensions.${value}`) }))}
        {...form.getInputProps(`${place}.dimension`)}
      />
      <NumberInput
        aria-label={t('keys.limit')}
        placeholder={t('keys.limit')}
        min={0}
        thousandSeparator=" "
        {...form.getInputProps(`${place}.limit`)}
      />
      <Select
        aria-label={t('keys.periodOf')}
        data={[...periods]
          .sort((one, other) => one - other)
          .map((seconds) => ({
            value: String(seconds),
            label: format.period(seconds),
          }))}
        {...form.getInputProps(`${place}.seconds`)}
      />
      <ActionIcon
        aria-label={t('keys.removeWindow')}
        onClick={() => form.removeListItem('policy.windows', index)}
      >
        <Icon name="trash" />
      </ActionIcon>
      <p className={styles.hint}>{t(`dimensionHints.${window.dimension}`)}</p>
    </div>
  )
}
