import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { type Channel, changeAddress, sendAddressCode } from '../../api/access.ts'
import { accountQuery } from '../../api/session.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { CodeInput } from '../../parts/identity/code-input.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface AddressDialogProps {
  readonly channel: Channel
  readonly onClose: () => void
}

/** Changes the e-mail address or phone number, confirmed by a code sent there. */
export function AddressDialog({ channel, onClose }: AddressDialogProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const form = useForm({
    initialValues: { [channel]: '', code: '' },
    validate: {
      [channel]: (text) => ((text ?? '').trim() === '' ? t('signIn.contactWanted') : null),
      code: (text) => (/^\d{6}$/.test(text ?? '') ? null : t('signIn.codeWanted')),
    },
  })
  const targetOf = (): string => (form.getValues()[channel] ?? '').trim()
  const { submit, isPending, problem } = useSubmit(form, {
    send: ({ code }) => changeAddress(channel, targetOf(), code),
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: accountQuery().queryKey }))
      onClose()
    },
    fields: { 40005: 'code', 40900: { field: channel, text: t('settings.addressTaken') } },
  })
  return (
    <Dialog onClose={onClose} title={t(`settings.changeAddress.${channel}`)}>
      <FormFrame sending={{ submit, isPending, problem }} action={t('settings.change')} onClose={onClose}>
        <TextInput
          label={t(`settings.newAddress.${channel}`)}
          size="lg"
          inputMode={channel === 'email' ? 'email' : 'tel'}
          data-autofocus
          {...form.getInputProps(channel)}
        />
        <CodeInput
          {...form.getInputProps('code')}
          goesTo="newcomer"
          onSend={async () => {
            if (targetOf() !== '') return sendAddressCode(channel, targetOf())
            form.validateField(channel)
            return undefined
          }}
        />
      </FormFrame>
    </Dialog>
  )
}
