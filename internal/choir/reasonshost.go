package choir

// The reasons that only the host's own programs say: the CLI, and choir up before it has
// a page. Their sentences are in problemshost.*.json, which no page loads.
const (
	ReasonArgumentInvalid        Reason = "argument_invalid"
	ReasonArgumentTooMany        Reason = "argument_too_many"
	ReasonArgumentMissing        Reason = "argument_missing"
	ReasonComputerFailed         Reason = "computer_failed"
	ReasonNoComputerHere         Reason = "no_computer_here"
	ReasonNoCommandRuns          Reason = "no_command_runs"
	ReasonRecordingUnreadable    Reason = "recording_unreadable"
	ReasonEvalNoFolder           Reason = "eval_no_folder"
	ReasonEvalNoModel            Reason = "eval_no_model"
	ReasonRecordingNotReplaced   Reason = "recording_not_replaced"
	ReasonMachineCannotIsolate   Reason = "machine_cannot_isolate"
	ReasonExpiresTooShort        Reason = "expires_too_short"
	ReasonNotAMode               Reason = "not_a_mode"
	ReasonHostWithoutPort        Reason = "host_without_port"
	ReasonEvalNoSuchTask         Reason = "eval_no_such_task"
	ReasonEvalNoRecordingsFolder Reason = "eval_no_recordings_folder"
	ReasonNoFolderIn             Reason = "no_folder_in"
	ReasonEvalStopped            Reason = "eval_stopped"
	ReasonEvalCheckFailed        Reason = "eval_check_failed"
	ReasonFileNotWritten         Reason = "file_not_written"
	ReasonCredentialForHttps     Reason = "credential_for_https"
	ReasonFlagWithoutValue       Reason = "flag_without_value"
	ReasonFlagWrongValue         Reason = "flag_wrong_value"
	ReasonFlagWithoutName        Reason = "flag_without_name"
	ReasonFlagsWrong             Reason = "flags_wrong"
	ReasonFlagsTogether          Reason = "flags_together"
	ReasonEpochWrong             Reason = "epoch_wrong"
	ReasonFileUnreadable         Reason = "file_unreadable"
	ReasonInputTooLarge          Reason = "input_too_large"
	ReasonLogDamagedInBoth       Reason = "log_damaged_in_both"
	ReasonLogDamagedInOne        Reason = "log_damaged_in_one"
	ReasonRecordTwoProviders     Reason = "record_two_providers"
	ReasonRecordingNotWritten    Reason = "recording_not_written"
	ReasonKeyEnvUnset            Reason = "key_env_unset"
	ReasonReportExists           Reason = "report_exists"
	ReasonReportNotWritten       Reason = "report_not_written"
	ReasonNotAnEvent             Reason = "not_an_event"
	ReasonRestartedInRewind      Reason = "restarted_in_rewind"
	ReasonRunNotNamed            Reason = "run_not_named"
	ReasonNotARunVerb            Reason = "not_a_run_verb"
	ReasonOneRunTooMany          Reason = "one_run_too_many"
	ReasonTakeConflicts          Reason = "take_conflicts"
	ReasonWithTakesNoEvent       Reason = "with_takes_no_event"
	ReasonAllTakesNoID           Reason = "all_takes_no_id"
	ReasonCannotListen           Reason = "cannot_listen"
	ReasonVaultHostMissing       Reason = "vault_host_missing"
	ReasonFlagUnknownNear        Reason = "flag_unknown_near"
	ReasonFlagUnknown            Reason = "flag_unknown"
	ReasonVerbUnknownNear        Reason = "verb_unknown_near"
	ReasonVerbUnknown            Reason = "verb_unknown"
	ReasonFolderMissing          Reason = "folder_missing"
	ReasonFolderOrAddress        Reason = "folder_or_address"
	ReasonModelAddressRefused    Reason = "model_address_refused"
	ReasonClusterCopyDiffers     Reason = "cluster_copy_differs"
	ReasonStoppedInRun           Reason = "stopped_in_run"
)

// hostReasons maps each of these reasons to the code of its errors.
var hostReasons = map[Reason]Code{
	ReasonArgumentInvalid:        CodeInvalid,
	ReasonArgumentTooMany:        CodeInvalid,
	ReasonArgumentMissing:        CodeInvalid,
	ReasonComputerFailed:         CodeUnavailable,
	ReasonNoComputerHere:         CodeNotFound,
	ReasonNoCommandRuns:          CodeNotFound,
	ReasonRecordingUnreadable:    CodeNotFound,
	ReasonEvalNoFolder:           CodeUnavailable,
	ReasonEvalNoModel:            CodeUnavailable,
	ReasonRecordingNotReplaced:   CodeUnavailable,
	ReasonMachineCannotIsolate:   CodeUnavailable,
	ReasonExpiresTooShort:        CodeInvalid,
	ReasonNotAMode:               CodeInvalid,
	ReasonHostWithoutPort:        CodeInvalid,
	ReasonEvalNoSuchTask:         CodeNotFound,
	ReasonEvalNoRecordingsFolder: CodeUnavailable,
	ReasonNoFolderIn:             CodeUnavailable,
	ReasonEvalStopped:            CodeCancelled,
	ReasonEvalCheckFailed:        CodeUnavailable,
	ReasonFileNotWritten:         CodeUnavailable,
	ReasonCredentialForHttps:     CodeInvalid,
	ReasonFlagWithoutValue:       CodeInvalid,
	ReasonFlagWrongValue:         CodeInvalid,
	ReasonFlagWithoutName:        CodeInvalid,
	ReasonFlagsWrong:             CodeInvalid,
	ReasonFlagsTogether:          CodeInvalid,
	ReasonEpochWrong:             CodeInvalid,
	ReasonFileUnreadable:         CodeNotFound,
	ReasonInputTooLarge:          CodeTooLarge,
	ReasonLogDamagedInBoth:       CodeCorrupt,
	ReasonLogDamagedInOne:        CodeCorrupt,
	ReasonRecordTwoProviders:     CodeInvalid,
	ReasonRecordingNotWritten:    CodeInvalid,
	ReasonKeyEnvUnset:            CodeUnavailable,
	ReasonReportExists:           CodeConflict,
	ReasonReportNotWritten:       CodeUnavailable,
	ReasonNotAnEvent:             CodeInvalid,
	ReasonRestartedInRewind:      CodeUnavailable,
	ReasonRunNotNamed:            CodeInvalid,
	ReasonNotARunVerb:            CodeInvalid,
	ReasonOneRunTooMany:          CodeInvalid,
	ReasonTakeConflicts:          CodeConflict,
	ReasonWithTakesNoEvent:       CodeInvalid,
	ReasonAllTakesNoID:           CodeInvalid,
	ReasonCannotListen:           CodeUnavailable,
	ReasonVaultHostMissing:       CodeInvalid,
	ReasonFlagUnknownNear:        CodeInvalid,
	ReasonFlagUnknown:            CodeInvalid,
	ReasonVerbUnknownNear:        CodeInvalid,
	ReasonVerbUnknown:            CodeInvalid,
	ReasonFolderMissing:          CodeNotFound,
	ReasonFolderOrAddress:        CodeNotFound,
	ReasonModelAddressRefused:    CodeRefused,
	ReasonClusterCopyDiffers:     CodeCorrupt,
	ReasonStoppedInRun:           CodeUnavailable,
}
