package choir

// The reasons that only the host's own programs say: the CLI, and choir up before it has
// a page. Their sentences are in problemshost.*.json, which no page loads.
const (
	ReasonArgumentInvalid           Reason = "argument_invalid"
	ReasonArgumentTooMany           Reason = "argument_too_many"
	ReasonArgumentMissing           Reason = "argument_missing"
	ReasonComputerFailed            Reason = "computer_failed"
	ReasonNoComputerHere            Reason = "no_computer_here"
	ReasonNoCommandRuns             Reason = "no_command_runs"
	ReasonRecordingUnreadable       Reason = "recording_unreadable"
	ReasonEvalNoFolder              Reason = "eval_no_folder"
	ReasonEvalNoModel               Reason = "eval_no_model"
	ReasonRecordingNotReplaced      Reason = "recording_not_replaced"
	ReasonMachineCannotIsolate      Reason = "machine_cannot_isolate"
	ReasonExpiresTooShort           Reason = "expires_too_short"
	ReasonNotAMode                  Reason = "not_a_mode"
	ReasonNotAScope                 Reason = "not_a_scope"
	ReasonHostIsAddress             Reason = "host_is_address"
	ReasonHostWithoutPort           Reason = "host_without_port"
	ReasonEvalNoSuchTask            Reason = "eval_no_such_task"
	ReasonEvalNoRecordingsFolder    Reason = "eval_no_recordings_folder"
	ReasonNoFolderIn                Reason = "no_folder_in"
	ReasonEvalStopped               Reason = "eval_stopped"
	ReasonEvalCheckFailed           Reason = "eval_check_failed"
	ReasonFileNotWritten            Reason = "file_not_written"
	ReasonCredentialForHTTPS        Reason = "credential_for_https"
	ReasonFlagWithoutValue          Reason = "flag_without_value"
	ReasonFlagWrongValue            Reason = "flag_wrong_value"
	ReasonFlagWithoutName           Reason = "flag_without_name"
	ReasonFlagsWrong                Reason = "flags_wrong"
	ReasonFlagsTogether             Reason = "flags_together"
	ReasonEpochWrong                Reason = "epoch_wrong"
	ReasonFileUnreadable            Reason = "file_unreadable"
	ReasonInputTooLarge             Reason = "input_too_large"
	ReasonLogDamagedInBoth          Reason = "log_damaged_in_both"
	ReasonLogDamagedInOne           Reason = "log_damaged_in_one"
	ReasonRecordTwoProviders        Reason = "record_two_providers"
	ReasonRecordingNotWritten       Reason = "recording_not_written"
	ReasonKeyEnvUnset               Reason = "key_env_unset"
	ReasonReportExists              Reason = "report_exists"
	ReasonReportNotWritten          Reason = "report_not_written"
	ReasonNotAnEvent                Reason = "not_an_event"
	ReasonRestartedInRewind         Reason = "restarted_in_rewind"
	ReasonRunNotNamed               Reason = "run_not_named"
	ReasonNotARunVerb               Reason = "not_a_run_verb"
	ReasonOneRunTooMany             Reason = "one_run_too_many"
	ReasonTakeConflicts             Reason = "take_conflicts"
	ReasonWithTakesNoEvent          Reason = "with_takes_no_event"
	ReasonAllTakesNoID              Reason = "all_takes_no_id"
	ReasonCannotListen              Reason = "cannot_listen"
	ReasonVaultHostMissing          Reason = "vault_host_missing"
	ReasonFlagUnknownNear           Reason = "flag_unknown_near"
	ReasonFlagUnknown               Reason = "flag_unknown"
	ReasonVerbUnknownNear           Reason = "verb_unknown_near"
	ReasonVerbUnknown               Reason = "verb_unknown"
	ReasonFolderMissing             Reason = "folder_missing"
	ReasonFolderOrAddress           Reason = "folder_or_address"
	ReasonModelAddressRefused       Reason = "model_address_refused"
	ReasonClusterCopyDiffers        Reason = "cluster_copy_differs"
	ReasonStoppedInRun              Reason = "stopped_in_run"
	ReasonNoProjectNumber           Reason = "no_project_number"
	ReasonFolderInUse               Reason = "folder_in_use"
	ReasonFolderNoFolder            Reason = "folder_no_folder"
	ReasonFolderWritable            Reason = "folder_writable"
	ReasonFolderWithoutComputer     Reason = "folder_without_computer"
	ReasonFolderOfUser              Reason = "folder_of_user"
	ReasonNoUserNumber              Reason = "no_user_number"
	ReasonNoClusterNamed            Reason = "no_cluster_named"
	ReasonNotAComputerID            Reason = "not_a_computer_id"
	ReasonFolderIsData              Reason = "folder_is_data"
	ReasonCopyOfOther               Reason = "copy_of_other"
	ReasonComputerFolderGone        Reason = "computer_folder_gone"
	ReasonLastFolderGone            Reason = "last_folder_gone"
	ReasonFileDamaged               Reason = "file_damaged"
	ReasonConfigNotYet              Reason = "config_not_yet"
	ReasonConfigUnknown             Reason = "config_unknown"
	ReasonConfigUnknownKnown        Reason = "config_unknown_known"
	ReasonConfigUnknownNear         Reason = "config_unknown_near"
	ReasonConfigTable               Reason = "config_table"
	ReasonConfigTables              Reason = "config_tables"
	ReasonConfigText                Reason = "config_text"
	ReasonConfigBoolean             Reason = "config_boolean"
	ReasonConfigNumber              Reason = "config_number"
	ReasonConfigWholeNumber         Reason = "config_whole_number"
	ReasonConfigTexts               Reason = "config_texts"
	ReasonConfigList                Reason = "config_list"
	ReasonConfigKind                Reason = "config_kind"
	ReasonConfigNoFolder            Reason = "config_no_folder"
	ReasonToolchainMuch             Reason = "toolchain_much"
	ReasonToolchainLeads            Reason = "toolchain_leads"
	ReasonToolchainHome             Reason = "toolchain_home"
	ReasonToolchainData             Reason = "toolchain_data"
	ReasonToolchainKey              Reason = "toolchain_key"
	ReasonToolchainSecret           Reason = "toolchain_secret"
	ReasonConfigHostPort            Reason = "config_host_port"
	ReasonConfigAbsolute            Reason = "config_absolute"
	ReasonConfigNoImage             Reason = "config_no_image"
	ReasonConfigJailer              Reason = "config_jailer"
	ReasonConfigGuestCID            Reason = "config_guest_cid"
	ReasonConfigUDSPath             Reason = "config_uds_path"
	ReasonConfigNoToolchainsVM      Reason = "config_no_toolchains_vm"
	ReasonConfigNoToken             Reason = "config_no_token"
	ReasonConfigNotAbsolute         Reason = "config_not_absolute"
	ReasonConfigNoToolchainsSprites Reason = "config_no_toolchains_sprites"
	ReasonConfigHTTP                Reason = "config_http"
	ReasonConfigTokenUnencrypted    Reason = "config_token_unencrypted"
	ReasonConfigNoNodes             Reason = "config_no_nodes"
	ReasonConfigNeedsReplicated     Reason = "config_needs_replicated"
	ReasonConfigNATS                Reason = "config_nats"
	ReasonConfigPassword            Reason = "config_password"
	ReasonConfigNotAName            Reason = "config_not_a_name"
	ReasonConfigTwice               Reason = "config_twice"
	ReasonConfigNoKey               Reason = "config_no_key"
	ReasonConfigTwoKeys             Reason = "config_two_keys"
	ReasonConfigModel               Reason = "config_model"
	ReasonConfigNoModelFor          Reason = "config_no_model_for"
	ReasonConfigNoModel             Reason = "config_no_model"
	ReasonConfigPrice               Reason = "config_price"
	ReasonConfigIdle                Reason = "config_idle"
	ReasonConfigRemote              Reason = "config_remote"
	ReasonConfigBaseURL             Reason = "config_base_url"
	ReasonConfigKeyUnencrypted      Reason = "config_key_unencrypted"
	ReasonConfigHostName            Reason = "config_host_name"
	ReasonConfigHTTPLocal           Reason = "config_http_local"
	ReasonConfigSameSite            Reason = "config_same_site"
	ReasonConfigSyntax              Reason = "config_syntax"
	ReasonConfigWrong               Reason = "config_wrong"
	ReasonConfigShortPath           Reason = "config_short_path"
	ReasonConfigPathPart            Reason = "config_path_part"
	ReasonApproveNoCondition        Reason = "approve_no_condition"
	ReasonApproveOneLine            Reason = "approve_one_line"
	ReasonApproveNoTool             Reason = "approve_no_tool"
	ReasonApproveLeastOne           Reason = "approve_least_one"
	ReasonApproveNoHost             Reason = "approve_no_host"
	ReasonToolchainOwn              Reason = "toolchain_own"
	ReasonToolchainOther            Reason = "toolchain_other"
	ReasonKeyFileNoFile             Reason = "key_file_no_file"
	ReasonKeyFileLong               Reason = "key_file_long"
	ReasonImageNoPackage            Reason = "image_no_package"
	ReasonImageNotDownloaded        Reason = "image_not_downloaded"
	ReasonImageNoPackageFile        Reason = "image_no_package_file"
	ReasonImageKernels              Reason = "image_kernels"
	ReasonImageNoModule             Reason = "image_no_module"
	ReasonImagePackages             Reason = "image_packages"
	ReasonImageNoSqfstar            Reason = "image_no_sqfstar"
	ReasonImageSqfstar              Reason = "image_sqfstar"
	ReasonKernelOther               Reason = "kernel_other"
	ReasonKernelShort               Reason = "kernel_short"
	ReasonKernelNoELF               Reason = "kernel_no_elf"
	ReasonKernelEmpty               Reason = "kernel_empty"
	ReasonEvalName                  Reason = "eval_name"
	ReasonEvalNoPrompt              Reason = "eval_no_prompt"
	ReasonEvalNoCheck               Reason = "eval_no_check"
	ReasonEvalTasksUnreadable       Reason = "eval_tasks_unreadable"
	ReasonEvalNoTasks               Reason = "eval_no_tasks"
	ReasonEvalNoCommit              Reason = "eval_no_commit"
	ReasonEvalInstancesUnreadable   Reason = "eval_instances_unreadable"
	ReasonEvalNoInstances           Reason = "eval_no_instances"
	ReasonEvalNotACommit            Reason = "eval_not_a_commit"
	ReasonEvalNoTest                Reason = "eval_no_test"
	ReasonEvalNoRepos               Reason = "eval_no_repos"
	ReasonEvalOwnerName             Reason = "eval_owner_name"
	ReasonEvalNoClone               Reason = "eval_no_clone"
	ReasonEvalReportUnreadable      Reason = "eval_report_unreadable"
	ReasonEvalNoReport              Reason = "eval_no_report"
	ReasonEvalTarPath               Reason = "eval_tar_path"
	ReasonEvalTarBroken             Reason = "eval_tar_broken"
	ReasonQuotaOtherKind            Reason = "quota_other_kind"
	ReasonQuotaNotMade              Reason = "quota_not_made"
	ReasonQuotaNotMounted           Reason = "quota_not_mounted"
	ReasonQuotaFilled               Reason = "quota_filled"
	ReasonQuotaNotRoot              Reason = "quota_not_root"
	ReasonQuotaKernel               Reason = "quota_kernel"
	ReasonClusterCredentialsOpen    Reason = "cluster_credentials_open"
	ReasonClusterCredentialsForm    Reason = "cluster_credentials_form"
	ReasonClusterNoAddress          Reason = "cluster_no_address"
	ReasonClusterUnencrypted        Reason = "cluster_unencrypted"
	ReasonClusterNotReached         Reason = "cluster_not_reached"
	ReasonClusterBehind             Reason = "cluster_behind"
	ReasonClusterNotReplicated      Reason = "cluster_not_replicated"
	ReasonClusterRemovedSome        Reason = "cluster_removed_some"
	ReasonClusterAhead              Reason = "cluster_ahead"
	ReasonClusterOtherLog           Reason = "cluster_other_log"
	ReasonClusterReplicas           Reason = "cluster_replicas"
	ReasonClusterLacks              Reason = "cluster_lacks"
	ReasonClusterLacksSome          Reason = "cluster_lacks_some"
	ReasonClusterHasMore            Reason = "cluster_has_more"
	ReasonClusterEventDiffers       Reason = "cluster_event_differs"
	ReasonBusNotUp                  Reason = "bus_not_up"
	ReasonRestoreLogThere           Reason = "restore_log_there"
	ReasonRestoreNoEvents           Reason = "restore_no_events"
	ReasonRestoreNotCanonical       Reason = "restore_not_canonical"
	ReasonRestoreGap                Reason = "restore_gap"
	ReasonLogOpenElsewhere          Reason = "log_open_elsewhere"
	ReasonRepairBusy                Reason = "repair_busy"
	ReasonRecordingOtherRules       Reason = "recording_other_rules"
	ReasonRecordingBreaksOff        Reason = "recording_breaks_off"
	ReasonRecordingInconsistent     Reason = "recording_inconsistent"
	ReasonNoDriver                  Reason = "no_driver"
	ReasonHandleOfOtherDriver       Reason = "handle_of_other_driver"
	ReasonDriverMountsNone          Reason = "driver_mounts_none"
	ReasonDriverNoTransport         Reason = "driver_no_transport"
	ReasonSandboxAsRoot             Reason = "sandbox_as_root"
	ReasonContainerNoLimits         Reason = "container_no_limits"
	ReasonContainerNoEngine         Reason = "container_no_engine"
	ReasonGvisorNoLimits            Reason = "gvisor_no_limits"
	ReasonGvisorNotRoot             Reason = "gvisor_not_root"
	ReasonGvisorNoRunsc             Reason = "gvisor_no_runsc"
	ReasonDoorsNotOwn               Reason = "doors_not_own"
	ReasonLocalNoLimits             Reason = "local_no_limits"
	ReasonLocalNoBwrap              Reason = "local_no_bwrap"
	ReasonLocalFoldersClosed        Reason = "local_folders_closed"
	ReasonLocalNoToolchain          Reason = "local_no_toolchain"
	ReasonVMMke2fsFailed            Reason = "vm_mke2fs_failed"
	ReasonVMNoFirecracker           Reason = "vm_no_firecracker"
	ReasonVMNoJailer                Reason = "vm_no_jailer"
	ReasonVMJailerVersion           Reason = "vm_jailer_version"
	ReasonVMOldImage                Reason = "vm_old_image"
	ReasonVMNoVersion               Reason = "vm_no_version"
	ReasonVMVersionOld              Reason = "vm_version_old"
	ReasonVMFreezeFirecracker       Reason = "vm_freeze_firecracker"
	ReasonVMNoPrlimit               Reason = "vm_no_prlimit"
	ReasonVMNoMke2fs                Reason = "vm_no_mke2fs"
	ReasonVMNoImage                 Reason = "vm_no_image"
	ReasonVMImageSize               Reason = "vm_image_size"
	ReasonVMQEMUOld                 Reason = "vm_qemu_old"
	ReasonVMNoQEMU                  Reason = "vm_no_qemu"
	ReasonSpritesNoAddress          Reason = "sprites_no_address"
	ReasonSpritesBadToken           Reason = "sprites_bad_token"
	ReasonSpritesNoToken            Reason = "sprites_no_token"
	ReasonSpritesEndedAtOnce        Reason = "sprites_ended_at_once"
	ReasonSpritesNoLimits           Reason = "sprites_no_limits"
	ReasonSpritesElsewhere          Reason = "sprites_elsewhere"
	ReasonRecordingNoCaller         Reason = "recording_no_caller"
	ReasonRecordingOver             Reason = "recording_over"
	ReasonRecordingDiffers          Reason = "recording_differs"
	ReasonKernelCompressed          Reason = "kernel_compressed"
	ReasonVMNoKVM                   Reason = "vm_no_kvm"
	ReasonVMBootsNoLinux            Reason = "vm_boots_no_linux"
	ReasonVMImageUnreadable         Reason = "vm_image_unreadable"
	ReasonConfigUnseen              Reason = "config_unseen"
	ReasonConfigUnfollowed          Reason = "config_unfollowed"
	ReasonSpritesTokenRefused       Reason = "sprites_token_refused"
	ReasonSpritesTooMany            Reason = "sprites_too_many"
	ReasonImageProgramFailed        Reason = "image_program_failed"
)

// hostReasons maps each of these reasons to the code of its errors.
var hostReasons = map[Reason]Code{
	ReasonArgumentInvalid:           CodeInvalid,
	ReasonArgumentTooMany:           CodeInvalid,
	ReasonArgumentMissing:           CodeInvalid,
	ReasonComputerFailed:            CodeUnavailable,
	ReasonNoComputerHere:            CodeNotFound,
	ReasonNoCommandRuns:             CodeNotFound,
	ReasonRecordingUnreadable:       CodeNotFound,
	ReasonEvalNoFolder:              CodeUnavailable,
	ReasonEvalNoModel:               CodeUnavailable,
	ReasonRecordingNotReplaced:      CodeUnavailable,
	ReasonMachineCannotIsolate:      CodeUnavailable,
	ReasonExpiresTooShort:           CodeInvalid,
	ReasonNotAMode:                  CodeInvalid,
	ReasonNotAScope:                 CodeInvalid,
	ReasonHostIsAddress:             CodeInvalid,
	ReasonHostWithoutPort:           CodeInvalid,
	ReasonEvalNoSuchTask:            CodeNotFound,
	ReasonEvalNoRecordingsFolder:    CodeUnavailable,
	ReasonNoFolderIn:                CodeUnavailable,
	ReasonEvalStopped:               CodeCancelled,
	ReasonEvalCheckFailed:           CodeUnavailable,
	ReasonFileNotWritten:            CodeUnavailable,
	ReasonCredentialForHTTPS:        CodeInvalid,
	ReasonFlagWithoutValue:          CodeInvalid,
	ReasonFlagWrongValue:            CodeInvalid,
	ReasonFlagWithoutName:           CodeInvalid,
	ReasonFlagsWrong:                CodeInvalid,
	ReasonFlagsTogether:             CodeInvalid,
	ReasonEpochWrong:                CodeInvalid,
	ReasonFileUnreadable:            CodeNotFound,
	ReasonInputTooLarge:             CodeTooLarge,
	ReasonLogDamagedInBoth:          CodeCorrupt,
	ReasonLogDamagedInOne:           CodeCorrupt,
	ReasonRecordTwoProviders:        CodeInvalid,
	ReasonRecordingNotWritten:       CodeInvalid,
	ReasonKeyEnvUnset:               CodeUnavailable,
	ReasonReportExists:              CodeConflict,
	ReasonReportNotWritten:          CodeUnavailable,
	ReasonNotAnEvent:                CodeInvalid,
	ReasonRestartedInRewind:         CodeUnavailable,
	ReasonRunNotNamed:               CodeInvalid,
	ReasonNotARunVerb:               CodeInvalid,
	ReasonOneRunTooMany:             CodeInvalid,
	ReasonTakeConflicts:             CodeConflict,
	ReasonWithTakesNoEvent:          CodeInvalid,
	ReasonAllTakesNoID:              CodeInvalid,
	ReasonCannotListen:              CodeUnavailable,
	ReasonVaultHostMissing:          CodeInvalid,
	ReasonFlagUnknownNear:           CodeInvalid,
	ReasonFlagUnknown:               CodeInvalid,
	ReasonVerbUnknownNear:           CodeInvalid,
	ReasonVerbUnknown:               CodeInvalid,
	ReasonFolderMissing:             CodeNotFound,
	ReasonFolderOrAddress:           CodeNotFound,
	ReasonModelAddressRefused:       CodeRefused,
	ReasonClusterCopyDiffers:        CodeCorrupt,
	ReasonStoppedInRun:              CodeUnavailable,
	ReasonNoProjectNumber:           CodeUnavailable,
	ReasonFolderInUse:               CodeConflict,
	ReasonFolderNoFolder:            CodeUnavailable,
	ReasonFolderWritable:            CodeRefused,
	ReasonFolderWithoutComputer:     CodeNotFound,
	ReasonFolderOfUser:              CodeConflict,
	ReasonNoUserNumber:              CodeUnavailable,
	ReasonNoClusterNamed:            CodeInvalid,
	ReasonNotAComputerID:            CodeInvalid,
	ReasonFolderIsData:              CodeConflict,
	ReasonCopyOfOther:               CodeCorrupt,
	ReasonComputerFolderGone:        CodeCorrupt,
	ReasonLastFolderGone:            CodeCorrupt,
	ReasonFileDamaged:               CodeCorrupt,
	ReasonConfigNotYet:              CodeUnavailable,
	ReasonConfigUnknown:             CodeInvalid,
	ReasonConfigUnknownKnown:        CodeInvalid,
	ReasonConfigUnknownNear:         CodeInvalid,
	ReasonConfigTable:               CodeInvalid,
	ReasonConfigTables:              CodeInvalid,
	ReasonConfigText:                CodeInvalid,
	ReasonConfigBoolean:             CodeInvalid,
	ReasonConfigNumber:              CodeInvalid,
	ReasonConfigWholeNumber:         CodeInvalid,
	ReasonConfigTexts:               CodeInvalid,
	ReasonConfigList:                CodeInvalid,
	ReasonConfigKind:                CodeInvalid,
	ReasonConfigNoFolder:            CodeInvalid,
	ReasonToolchainMuch:             CodeInvalid,
	ReasonToolchainLeads:            CodeInvalid,
	ReasonToolchainHome:             CodeInvalid,
	ReasonToolchainData:             CodeInvalid,
	ReasonToolchainKey:              CodeInvalid,
	ReasonToolchainSecret:           CodeInvalid,
	ReasonConfigHostPort:            CodeInvalid,
	ReasonConfigAbsolute:            CodeInvalid,
	ReasonConfigNoImage:             CodeInvalid,
	ReasonConfigJailer:              CodeInvalid,
	ReasonConfigGuestCID:            CodeInvalid,
	ReasonConfigUDSPath:             CodeInvalid,
	ReasonConfigNoToolchainsVM:      CodeInvalid,
	ReasonConfigNoToken:             CodeInvalid,
	ReasonConfigNotAbsolute:         CodeInvalid,
	ReasonConfigNoToolchainsSprites: CodeInvalid,
	ReasonConfigHTTP:                CodeInvalid,
	ReasonConfigTokenUnencrypted:    CodeInvalid,
	ReasonConfigNoNodes:             CodeInvalid,
	ReasonConfigNeedsReplicated:     CodeInvalid,
	ReasonConfigNATS:                CodeInvalid,
	ReasonConfigPassword:            CodeInvalid,
	ReasonConfigNotAName:            CodeInvalid,
	ReasonConfigTwice:               CodeInvalid,
	ReasonConfigNoKey:               CodeInvalid,
	ReasonConfigTwoKeys:             CodeInvalid,
	ReasonConfigModel:               CodeInvalid,
	ReasonConfigNoModelFor:          CodeInvalid,
	ReasonConfigNoModel:             CodeInvalid,
	ReasonConfigPrice:               CodeInvalid,
	ReasonConfigIdle:                CodeInvalid,
	ReasonConfigRemote:              CodeInvalid,
	ReasonConfigBaseURL:             CodeInvalid,
	ReasonConfigKeyUnencrypted:      CodeInvalid,
	ReasonConfigHostName:            CodeInvalid,
	ReasonConfigHTTPLocal:           CodeInvalid,
	ReasonConfigSameSite:            CodeInvalid,
	ReasonConfigSyntax:              CodeInvalid,
	ReasonConfigWrong:               CodeInvalid,
	ReasonConfigShortPath:           CodeInvalid,
	ReasonConfigPathPart:            CodeInvalid,
	ReasonApproveNoCondition:        CodeInvalid,
	ReasonApproveOneLine:            CodeInvalid,
	ReasonApproveNoTool:             CodeInvalid,
	ReasonApproveLeastOne:           CodeInvalid,
	ReasonApproveNoHost:             CodeInvalid,
	ReasonToolchainOwn:              CodeInvalid,
	ReasonToolchainOther:            CodeInvalid,
	ReasonKeyFileNoFile:             CodeUnavailable,
	ReasonKeyFileLong:               CodeUnavailable,
	ReasonImageNoPackage:            CodeUnavailable,
	ReasonImageNotDownloaded:        CodeUnavailable,
	ReasonImageNoPackageFile:        CodeUnavailable,
	ReasonImageKernels:              CodeInvalid,
	ReasonImageNoModule:             CodeUnavailable,
	ReasonImagePackages:             CodeUnavailable,
	ReasonImageNoSqfstar:            CodeUnavailable,
	ReasonImageSqfstar:              CodeUnavailable,
	ReasonKernelOther:               CodeInvalid,
	ReasonKernelShort:               CodeInvalid,
	ReasonKernelNoELF:               CodeInvalid,
	ReasonKernelEmpty:               CodeInvalid,
	ReasonEvalName:                  CodeInvalid,
	ReasonEvalNoPrompt:              CodeInvalid,
	ReasonEvalNoCheck:               CodeInvalid,
	ReasonEvalTasksUnreadable:       CodeNotFound,
	ReasonEvalNoTasks:               CodeNotFound,
	ReasonEvalNoCommit:              CodeInvalid,
	ReasonEvalInstancesUnreadable:   CodeNotFound,
	ReasonEvalNoInstances:           CodeNotFound,
	ReasonEvalNotACommit:            CodeInvalid,
	ReasonEvalNoTest:                CodeInvalid,
	ReasonEvalNoRepos:               CodeInvalid,
	ReasonEvalOwnerName:             CodeInvalid,
	ReasonEvalNoClone:               CodeNotFound,
	ReasonEvalReportUnreadable:      CodeNotFound,
	ReasonEvalNoReport:              CodeInvalid,
	ReasonEvalTarPath:               CodeInvalid,
	ReasonEvalTarBroken:             CodeInvalid,
	ReasonQuotaOtherKind:            CodeUnavailable,
	ReasonQuotaNotMade:              CodeUnavailable,
	ReasonQuotaNotMounted:           CodeUnavailable,
	ReasonQuotaFilled:               CodeConflict,
	ReasonQuotaNotRoot:              CodeUnavailable,
	ReasonQuotaKernel:               CodeUnavailable,
	ReasonClusterCredentialsOpen:    CodeRefused,
	ReasonClusterCredentialsForm:    CodeInvalid,
	ReasonClusterNoAddress:          CodeInvalid,
	ReasonClusterUnencrypted:        CodeRefused,
	ReasonClusterNotReached:         CodeUnavailable,
	ReasonClusterBehind:             CodeUnavailable,
	ReasonClusterNotReplicated:      CodeUnavailable,
	ReasonClusterRemovedSome:        CodeConflict,
	ReasonClusterAhead:              CodeConflict,
	ReasonClusterOtherLog:           CodeConflict,
	ReasonClusterReplicas:           CodeConflict,
	ReasonClusterLacks:              CodeCorrupt,
	ReasonClusterLacksSome:          CodeCorrupt,
	ReasonClusterHasMore:            CodeCorrupt,
	ReasonClusterEventDiffers:       CodeCorrupt,
	ReasonBusNotUp:                  CodeUnavailable,
	ReasonRestoreLogThere:           CodeConflict,
	ReasonRestoreNoEvents:           CodeNotFound,
	ReasonRestoreNotCanonical:       CodeCorrupt,
	ReasonRestoreGap:                CodeCorrupt,
	ReasonLogOpenElsewhere:          CodeBusy,
	ReasonRepairBusy:                CodeBusy,
	ReasonRecordingOtherRules:       CodeInvalid,
	ReasonRecordingBreaksOff:        CodeCorrupt,
	ReasonRecordingInconsistent:     CodeCorrupt,
	ReasonNoDriver:                  CodeInvalid,
	ReasonHandleOfOtherDriver:       CodeInvalid,
	ReasonDriverMountsNone:          CodeUnavailable,
	ReasonDriverNoTransport:         CodeUnavailable,
	ReasonSandboxAsRoot:             CodeInvalid,
	ReasonContainerNoLimits:         CodeUnavailable,
	ReasonContainerNoEngine:         CodeUnavailable,
	ReasonGvisorNoLimits:            CodeUnavailable,
	ReasonGvisorNotRoot:             CodeUnavailable,
	ReasonGvisorNoRunsc:             CodeUnavailable,
	ReasonDoorsNotOwn:               CodeInvalid,
	ReasonLocalNoLimits:             CodeUnavailable,
	ReasonLocalNoBwrap:              CodeUnavailable,
	ReasonLocalFoldersClosed:        CodeUnavailable,
	ReasonLocalNoToolchain:          CodeUnavailable,
	ReasonVMMke2fsFailed:            CodeUnavailable,
	ReasonVMNoFirecracker:           CodeUnavailable,
	ReasonVMNoJailer:                CodeUnavailable,
	ReasonVMJailerVersion:           CodeUnavailable,
	ReasonVMOldImage:                CodeUnavailable,
	ReasonVMNoVersion:               CodeUnavailable,
	ReasonVMVersionOld:              CodeUnavailable,
	ReasonVMFreezeFirecracker:       CodeInvalid,
	ReasonVMNoPrlimit:               CodeUnavailable,
	ReasonVMNoMke2fs:                CodeUnavailable,
	ReasonVMNoImage:                 CodeUnavailable,
	ReasonVMImageSize:               CodeUnavailable,
	ReasonVMQEMUOld:                 CodeUnavailable,
	ReasonVMNoQEMU:                  CodeUnavailable,
	ReasonSpritesNoAddress:          CodeUnavailable,
	ReasonSpritesBadToken:           CodeUnavailable,
	ReasonSpritesNoToken:            CodeUnavailable,
	ReasonSpritesEndedAtOnce:        CodeUnavailable,
	ReasonSpritesNoLimits:           CodeUnavailable,
	ReasonSpritesElsewhere:          CodeInvalid,
	ReasonRecordingNoCaller:         CodeUnmatched,
	ReasonRecordingOver:             CodeUnmatched,
	ReasonRecordingDiffers:          CodeUnmatched,
	ReasonKernelCompressed:          CodeInvalid,
	ReasonVMNoKVM:                   CodeUnavailable,
	ReasonVMBootsNoLinux:            CodeUnavailable,
	ReasonVMImageUnreadable:         CodeUnavailable,
	ReasonConfigUnseen:              CodeUnavailable,
	ReasonConfigUnfollowed:          CodeUnavailable,
	ReasonSpritesTokenRefused:       CodeUnavailable,
	ReasonSpritesTooMany:            CodeBusy,
	ReasonImageProgramFailed:        CodeUnavailable,
}
