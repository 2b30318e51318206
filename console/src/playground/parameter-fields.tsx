import { Button, NumberInput, Switch, Textarea } from '@mantine/core'
import form from '../parts/forms/form.module.css'
import { type Parameters, readTools } from './conversation.ts'
import styles from './playground.module.css'
import { useTranslation } from '../texts/use-translation.ts'

const EXAMPLE = JSON.stringify(
  [
    {
      name: 'weather',
      description: 'The weather of a place',
      parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
    },
  ],
  null,
  2,
)

interface ParameterFieldsProps {
  readonly values: Parameters
  readonly onChange: (values: Parameters) => void
}

/** Parameters of every message; empty ones are not sent. */
export function ParameterFields({ values, onChange }: ParameterFieldsProps) {
  const { t } = useTranslation()
  const change = (fields: Partial<Parameters>): void => onChange({ ...values, ...fields })
  return (
    <div className={styles.parameters}>
      <Textarea
        label={t('playground.system')}
        rows={2}
        value={values.system}
        onChange={({ currentTarget: { value } }) => change({ system: value })}
      />
      <Textarea
        label={t('playground.tools')}
        description={t('playground.toolsHint')}
        rows={values.tools === '' ? 2 : 8}
        spellCheck={false}
        classNames={{ input: styles.json ?? '' }}
        value={values.tools}
        error={readTools(values.tools) === undefined && t('playground.noTools')}
        onChange={({ currentTarget: { value } }) => change({ tools: value })}
      />
      {values.tools === '' && (
        <Button
          variant="default"
          size="xs"
          className={styles.example ?? ''}
          onClick={() => change({ tools: EXAMPLE })}
        >
          {t('playground.example')}
        </Button>
      )}
      <Numbers values={values} onChange={change} />
      <Switch
        label={t('playground.stream')}
        checked={values.stream}
        onChange={({ currentTarget: { checked } }) => change({ stream: checked })}
      />
    </div>
  )
}

function Numbers({
  values,
  onChange: change,
}: {
  readonly values: Parameters
  readonly onChange: (fields: Partial<Parameters>) => void
}) {
  const { t } = useTranslation()
  const number = (value: number | string): number | undefined =>
    typeof value === 'number' ? value : undefined
  return (
    <div className={form.row}>
      <NumberInput
        label={t('playground.temperature')}
        min={0}
        max={2}
        step={0.1}
        decimalScale={2}
        value={values.temperature ?? ''}
        onChange={(value) => change({ temperature: number(value) })}
      />
      <NumberInput
        label={t('playground.topP')}
        min={0}
        max={1}
        step={0.05}
        decimalScale={2}
        value={values.topP ?? ''}
        onChange={(value) => change({ topP: number(value) })}
      />
      <NumberInput
        label={t('playground.cap')}
        min={1}
        allowDecimal={false}
        value={values.cap ?? ''}
        onChange={(value) => change({ cap: number(value) })}
      />
    </div>
  )
}
