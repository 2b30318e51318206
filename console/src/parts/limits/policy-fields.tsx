import { ActionIcon, Button, NumberInput, Select } from '@mantine/core'
import styles from '../forms/form.module.css'
import { Icon } from '../marks/icon.tsx'
import { useFormat } from '../values/format.ts'
import { DIMENSIONS } from './dimensions.ts'
import policy from './policy.module.css'
import type { PolicyForm, PolicyValues } from './policy-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** A minute, an hour, five hours, a day, a week, thirty days. */
const PERIODS = [60, 3_600, 18_000, 86_400, 604_800, 2_592_000] as const

interface PolicyFieldsProps {
  readonly form: PolicyForm
  /** The field of the form that holds the limits. */
  readonly place: string
  readonly of: PolicyValues
}

/** Fields of limits: quantity and period; each dimension explains what it counts. */
export function PolicyFields({ form, place, of: { windows } }: PolicyFieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <NumberInput
        label={t('keys.atOnce')}
        description={t('keys.atOnceHint')}
        placeholder={t('keys.anyNumber')}
        min={1}
        allowDecimal={false}
        {...form.getInputProps(`${place}.concurrency`)}
      />
      {windows.length > 0 && <p className={styles.hint}>{t('keys.windowsHint')}</p>}
      <div className={policy.windows}>
        {windows.map((window, index) => (
          <WindowFields key={index} form={form} windows={`${place}.windows`} index={index} of={window} />
        ))}
      </div>
      <div>
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() =>
            form.insertListItem(`${place}.windows`, { dimension: 'amount', limit: '', seconds: '2592000' })
          }
        >
          {t('keys.addWindow')}
        </Button>
      </div>
    </>
  )
}

interface WindowFieldsProps {
  readonly form: PolicyForm
  /** The list of the form that holds the window. */
  readonly windows: string
  readonly index: number
  readonly of: PolicyValues['windows'][number]
}

function WindowFields({ form, windows, index, of: window }: WindowFieldsProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const place = `${windows}.${index}`
  const periods = new Set<number>([...PERIODS, Number(window.seconds)])
  return (
    <div className={policy.window} role="group" aria-label={t('keys.windowNumber', { number: index + 1 })}>
      <Select
        aria-label={t('keys.counts')}
        data={DIMENSIONS.map((value) => ({ value, label: t(`dimensions.${value}`) }))}
        {...form.getInputProps(`${place}.dimension`)}
      />
      <NumberInput
        aria-label={t('keys.limit')}
        placeholder={t('keys.limit')}
        min={0}
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
      <ActionIcon aria-label={t('keys.removeWindow')} onClick={() => form.removeListItem(windows, index)}>
        <Icon name="trash" />
      </ActionIcon>
      <p className={styles.hint}>{t(`dimensionHints.${window.dimension}`)}</p>
    </div>
  )
}
