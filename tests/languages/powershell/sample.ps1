<#
.SYNOPSIS
Deploys.
#>
param([string]$Target = "web")

Import-Module Tools

$Timeout = 30

function Get-Thing {
    param([string]$Name)
    # looks it up
    return $Name.Trim()
}

function Script:Set-Thing($Name, $Value) {
    $items = @{ a = 1; b = 'two' }
    $items[$Name] = $Value
}

filter Only-Even { if ($_ % 2 -eq 0) { $_ } }

class Server {
    [string]$Host
    Server([string]$h) { $this.Host = $h }
    [bool] Ping([int]$times) { return $true }
}

enum Color { Red; Green = 2 }

Get-Thing -Name $Target | Out-Host
