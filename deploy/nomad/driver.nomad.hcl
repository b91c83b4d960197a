# Two drivers: one leads, the other stands by and leads as soon as the first is gone.
variable "datacenters" {
  type    = list(string)
  default = ["*"]
}

variable "driver" {
  type        = string
  default     = "raw_exec"
  description = "raw_exec, or exec where /opt/weft and the home are in its chroot_env"
}

variable "user" {
  type        = string
  default     = "weft"
  description = "As whom it runs on the node; the home is this user's"
}

variable "weft" {
  type        = string
  default     = "/opt/weft"
  description = "On each node: bin/weft, and prepare.py, wait.py and health.py in share/"
}

variable "database" {
  type        = string
  default     = "postgres.service.consul:5432/weft"
  description = "HOST[:PORT]/NAME of the database, and its options"
}

variable "home" {
  type        = string
  default     = "/var/lib/weft"
  description = "On each node, of all roles there; its logs/ is storage that apis and workers share"
}

variable "count" {
  type    = number
  default = 2
}

variable "distinct_hosts" {
  type        = bool
  default     = true
  description = "false lets all of them run on one node"
}

job "weft-driver" {
  datacenters = var.datacenters

  update {
    max_parallel      = 1
    min_healthy_time  = "10s"
    healthy_deadline  = "5m"
    progress_deadline = "10m"
  }

  group "driver" {
    count = var.count

    constraint {
      operator = "distinct_hosts"
      value    = var.distinct_hosts
    }

    # The home with the keys of this weft; then it waits until the database has the schema of this release.
    task "wait" {
      driver = var.driver
      user   = var.user
      lifecycle {
        hook = "prestart"
      }
      config {
        command = "${var.weft}/bin/python"
        args    = ["${var.weft}/share/wait.py", "driver", "${NOMAD_SECRETS_DIR}"]
      }
      env {
        WEFT_HOME = var.home
      }
      template {
        destination = "secrets/env"
        env         = true
        data        = <<END
{{ with nomadVar "nomad/jobs/weft-driver" }}WEFT_DATABASE=postgresql://weft_driver:{{ .DRIVER_PASSWORD }}@${var.database}{{ end }}
END
      }
      template {
        destination = "secrets/callback.json"
        data        = "{{ with nomadVar \"nomad/jobs/weft-driver\" }}{\"key\": \"{{ .CALLBACK_KEY }}\"}{{ end }}"
      }
      template {
        destination = "secrets/secret-keys.json"
        data        = "{{ with nomadVar \"nomad/jobs/weft-driver\" }}{\"keys\": [\"{{ .SECRETS_KEY }}\"]}{{ end }}"
      }
      resources {
        cpu    = 50
        memory = 256
      }
    }

    task "driver" {
      driver       = var.driver
      user         = var.user
      kill_timeout = "30s"
      config {
        command = "${var.weft}/bin/weft"
        args    = ["driver"]
      }
      env {
        WEFT_HOME       = var.home
        WEFT_LOG_FORMAT = "json"
        WEFT_ROLE_NAME  = "driver-${NOMAD_ALLOC_INDEX}"
      }
      template {
        destination = "secrets/env"
        env         = true
        data        = <<END
{{ with nomadVar "nomad/jobs/weft-driver" }}WEFT_DATABASE=postgresql://weft_driver:{{ .DRIVER_PASSWORD }}@${var.database}{{ end }}
END
      }
      resources {
        cpu    = 250
        memory = 512
      }
    }
  }
}
